"""Crawler traps: sites, or corners of them, that can be followed for ever and never say anything new.

Two kinds of rules. Some URLs show by themselves that they come out of a loop (`shapes.py`). For the
rest only what the pages say can tell a trap from a large site: a calendar and a news archive look
alike as URLs. So the text of new pages is watched per URL pattern (`novelty.py`), and a pattern whose
latest pages brought nothing new is not followed any further (`watch.py`).
"""

from __future__ import annotations

from incrawl.core.traps.novelty import text_blocks, words_of
from incrawl.core.traps.shapes import loop_in, without_session
from incrawl.core.traps.watch import TrapWatch

__all__ = ["TrapWatch", "loop_in", "text_blocks", "without_session", "words_of"]
