"""A Scrapy project of the usual kind, made incremental by one line in its settings."""
