"""The lighter batch job: a policy learns from all records; sidecars and links are left alone."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from incrawl.collection import snapshot
from incrawl.collection.snapshot import Snapshot
from incrawl.collection.survey import batches
from incrawl.core.refresh.policy import LearnsFromAll
from incrawl.frontier.frontier import Frontier


async def learn(frontier: Frontier, policy: LearnsFromAll) -> Snapshot:
    """Shows the policy all records as they are, and publishes what it has learnt."""
    now, pages = frontier.now(), 0
    learner = policy.learner(now)
    async for batch in batches(frontier):
        for entry in batch:
            learner.add(entry.record)
            pages += entry.record.document is not None
    before = await snapshot.load(frontier)
    # Learning may take a while: not in the thread in which a crawl may be going on.
    collection = await asyncio.to_thread(learner.learnt, replace(before.collection, pages=pages))
    after = Snapshot(collection, now, before.number)
    await snapshot.save(frontier, after)
    return after
