"""When something is lost: back-ups of frontier and repository, and a frontier rebuilt from documents."""
