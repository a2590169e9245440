"""Below the middlewares: name resolution and the HTTP connection, both with bounds."""
