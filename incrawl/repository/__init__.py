"""Documents: versions in dated directories, each with its sidecar and history."""

from incrawl.repository.folders import RepositoryError
from incrawl.repository.journal import Change
from incrawl.repository.paths import Place, place_of
from incrawl.repository.repository import Repository
from incrawl.repository.sidecar import Sidecar, VisitEntry
from incrawl.repository.staging import Staged

__all__ = ["Change", "Place", "Repository", "RepositoryError", "Sidecar", "Staged", "VisitEntry", "place_of"]
