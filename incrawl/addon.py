"""The add-on: makes the spiders of any Scrapy project incremental, polite and safe.

ADDONS = {"incrawl.Addon": 300}
"""

from __future__ import annotations

from scrapy.settings import BaseSettings

from incrawl.core.identity import user_agent

PIPELINES = (
    "incrawl.pipelines.changes.ChangeDetectionPipeline",
    "incrawl.pipelines.documents.DocumentPipeline",
    "incrawl.pipelines.records.RecordPipeline",
)
CHANGE_GATE = "incrawl.middlewares.changes.ChangeGateMiddleware"

# From the engine, which is at 0, to the network. Waiting is done at 990; what is beyond measures time.
DOWNLOADER_MIDDLEWARES: dict[str, int | None] = {
    "incrawl.middlewares.address_guard.AddressGuardMiddleware": 55,
    "incrawl.middlewares.admission.AdmissionMiddleware": 60,
    "incrawl.middlewares.content_only.ContentOnlyMiddleware": 70,
    "incrawl.middlewares.sitemap_files.SitemapFilesMiddleware": 80,
    "incrawl.middlewares.robots.RobotsMiddleware": 100,
    "incrawl.middlewares.conditional.ConditionalMiddleware": 560,
    "incrawl.middlewares.meta_refresh.ForgivingMetaRefreshMiddleware": 580,
    "incrawl.middlewares.charsets.CharsetMiddleware": 585,
    "incrawl.middlewares.compression.BoundedCompressionMiddleware": 590,
    "incrawl.middlewares.slow_down.SlowDownMiddleware": 700,
    "incrawl.middlewares.politeness.PolitenessMiddleware": 990,
    "incrawl.middlewares.budget.BudgetMiddleware": 995,
    "incrawl.middlewares.limits.LimitsMiddleware": 997,
    "incrawl.middlewares.site_time.SiteTimeMiddleware": 998,
    # Their places are taken.
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
    "scrapy.downloadermiddlewares.redirect.MetaRefreshMiddleware": None,
    "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": None,
}
SPIDER_MIDDLEWARES: dict[str, int | None] = {
    "incrawl.middlewares.visits.VisitMiddleware": 10,
    "incrawl.middlewares.admission.AdmissionMiddleware": 900,
}
EXTENSIONS: dict[str, int | None] = {"incrawl.log_guard.LogGuard": 0}

SAFE_DEFAULTS: dict[str, object] = {
    # The frontier paces hosts, across all workers; Scrapy's own pacing would only add to it.
    "DOWNLOAD_DELAY": 0,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1000,
    "AUTOTHROTTLE_ENABLED": False,
    # Scrapy starts this many tasks for every response, needed or not; its default of 100 costs as much as
    # parsing the page.
    "CONCURRENT_ITEMS": 16,
    # http and https only, by a handler that bounds what a server may send.
    "DOWNLOAD_HANDLERS": {
        "http": "incrawl.network.handler.BoundedHTTP11DownloadHandler",
        "https": "incrawl.network.handler.BoundedHTTP11DownloadHandler",
        "data": None,
        "file": None,
        "ftp": None,
        "s3": None,
    },
    # Only addresses that may be contacted are ever handed out; a proxy would look them up by itself.
    "TWISTED_DNS_RESOLVER": "incrawl.network.resolver.GuardedResolver",
    "DNS_TIMEOUT": 10,
    "HTTPPROXY_ENABLED": False,
    "REDIRECT_MAX_TIMES": 5,
    # A host that answers 429 or 503 is left in peace, not asked again at once.
    "RETRY_HTTP_CODES": [500, 502, 504, 522, 524, 408],
    "RETRY_TIMES": 1,
    # A name that is unknown, or that stands for a forbidden address, is so a moment later, too.
    "RETRY_EXCEPTIONS": [
        "scrapy.exceptions.DownloadConnectionRefusedError",
        "scrapy.exceptions.DownloadFailedError",
        "scrapy.exceptions.DownloadTimeoutError",
        "scrapy.exceptions.ResponseDataLossError",
    ],
    # Ports through which code could be run.
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
}


class Addon:
    """Puts incrawl's components where they belong, and leaves what the user has set."""

    def update_settings(self, settings: BaseSettings) -> None:
        settings.set("SCHEDULER", "incrawl.scheduler.Scheduler", "addon")
        _add(settings, "SPIDER_MIDDLEWARES", SPIDER_MIDDLEWARES)
        _add(settings, "DOWNLOADER_MIDDLEWARES", DOWNLOADER_MIDDLEWARES)
        _add(settings, "EXTENSIONS", EXTENSIONS)
        if not set(PIPELINES) & set(settings.getdict("ITEM_PIPELINES")):
            # Items are the user's: pages are compared before the spider sees them.
            _add(settings, "DOWNLOADER_MIDDLEWARES", {CHANGE_GATE: 10})
        for name, value in SAFE_DEFAULTS.items():
            settings.set(name, value, "addon")
        _name_contact(settings)


def _add(settings: BaseSettings, name: str, components: dict[str, int | None]) -> None:
    for component, order in components.items():
        if component not in settings[name]:
            settings[name].set(component, order, "addon")


def _name_contact(settings: BaseSettings) -> None:
    """Every request says who is asking, and where to complain."""
    agent = user_agent(settings["USER_AGENT"] or "", str(settings.get("INCRAWL_CONTACT") or ""))
    settings.set("USER_AGENT", agent, settings.getpriority("USER_AGENT") or "addon")
