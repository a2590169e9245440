"""Settings of the incrawl project itself, for Scrapy, scrapyd and cron. See docs/settings.md."""

from incrawl.addon import PIPELINES

BOT_NAME = "incrawl"
SPIDER_MODULES = ["incrawl.spiders"]
NEWSPIDER_MODULE = "incrawl.spiders"
COMMANDS_MODULE = "incrawl.commands"

ADDONS = {"incrawl.Addon": 300}
ITEM_PIPELINES = {path: 100 + 100 * place for place, path in enumerate(PIPELINES)}

USER_AGENT = "incrawl/0.1"
ROBOTSTXT_OBEY = True
COOKIES_ENABLED = False
# A request that waits for its host's turn keeps its place among these: half of 16 would often be waiting.
CONCURRENT_REQUESTS = 64
# A page is one item, and Scrapy starts this many tasks for every response.
CONCURRENT_ITEMS = 4
LOG_LEVEL = "INFO"
