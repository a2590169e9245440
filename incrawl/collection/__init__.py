"""The collection as a whole: a batch job over records and sidecars that ranks pages and sets what policies
need to know of all pages together. It holds arrays of numbers, never the pages themselves."""
