BOT_NAME = "bookshop"
SPIDER_MODULES = ["bookshop.spiders"]
ITEM_PIPELINES = {"bookshop.pipelines.PricePipeline": 300}
LOG_LEVEL = "INFO"

# The one line that makes the spiders of this project incremental.
ADDONS = {"incrawl.Addon": 300}
