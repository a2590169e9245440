"""Refresh policies against each other under a virtual clock: the production code, on pages whose changes
are known. Times are seconds from the start."""
