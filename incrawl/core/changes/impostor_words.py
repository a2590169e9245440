"""What impostors say, and what they are made with. All in lower case."""

from __future__ import annotations

import re


def _phrases(text: str) -> tuple[str, ...]:
    return tuple(" ".join(phrase.split()) for phrase in text.split("|"))


TITLE_PARTS = re.compile(r"\s+[|–—·•:»-]\s+|\s*\|\s*")
HEADING = re.compile(r"/h[1-3](?:\[\d+\])?(?:/[^/]+){0,2}$")

CHALLENGES = frozenset(
    _phrases("""
    just a moment|attention required|checking your browser|checking your browser before accessing|
    verify you are human|verifying you are human|are you a robot?|are you a robot|are you human?|robot check|
    human verification|security check|please verify you are a human|please prove you're not a robot|
    pardon our interruption|access to this page has been denied|bot verification|
    ddos protection by cloudflare|
    captcha|let's confirm you are human|unusual traffic from your computer network|sicherheitsüberprüfung|
    bist du ein mensch?|vérification de sécurité|verificación de seguridad|enter the characters you see below|
    one more step|security verification|browser check
    """)
)
CHALLENGE_PAGES = _phrases("""
    /cdn-cgi/challenge-platform/h/|cf-browser-verification|cf_chl_opt|window._cf_chl|px-captcha|
    captcha-delivery.com|_incapsula_resource|distil_r_captcha|/_sec/cp_challenge|awswafintegration|
    validatecaptcha|sgcaptcha
""")
CHALLENGE_WIDGETS = _phrases("""
    g-recaptcha|h-captcha|hcaptcha.com|cf-turnstile|recaptcha/api.js|friendly-challenge
""")
CHALLENGE_PHRASES = _phrases("""
    you are not a robot|you're not a robot|you are human|you're human|you are a human|unusual traffic|
    unusual activity|automated requests|complete the security check|solve the captcha|complete the captcha|
    kein roboter|pas un robot|no eres un robot
""")

PASSWORD_FIELD = re.compile(r"<input[^>]{0,500}type\s{0,3}=\s{0,3}[\"']?password")
FEW_PARAGRAPHS = 40
LOGINS = frozenset(
    _phrases("""
    log in|login|sign in|signin|log on|logon|log in to continue|sign in to continue|please log in|
    please sign in|
    please login|login required|log in to your account|sign in to your account|member login|user login|
    authentication required|session expired|your session has expired|single sign-on|anmelden|anmeldung|
    einloggen|bitte anmelden|connexion|se connecter|iniciar sesión|accedi|inloggen|log ind|logga in|logowanie|
    вход|войти|ログイン|登录|로그인
    """)
)

WALL_PARAGRAPHS = 80
CONSENTS = frozenset(
    _phrases("""
    we value your privacy|your privacy choices|we care about your privacy|before you continue|
    before you continue to google|before you continue to youtube|cookie consent|
    your choices regarding cookies|
    we use cookies|this site uses cookies|this website uses cookies|accept cookies to continue|
    datenschutzeinstellungen|privatsphäre-einstellungen|wir schätzen ihre privatsphäre|
    mit werbung weiterlesen|
    nous respectons votre vie privée|votre vie privée|tu privacidad|valoramos tu privacidad|la tua privacy
    """)
)
CONSENT_WIDGETS = _phrases("""
    consent|cookiewall|cookie-wall|onetrust|didomi|quantcast|usercentrics|sourcepoint|sp_message|privacy-mgmt|
    cookiebot|tcfapi
""")
CONSENT_PHRASES = _phrases("""
    accept all|accept cookies|accept and continue|agree and continue|i agree|reject all|alle akzeptieren|
    zustimmen|tout accepter|accepter et continuer|aceptar todo|accetta tutti
""")
ABOUT_CONSENT = re.compile(
    r"cookie|consent|privacy|partner|accept|reject|agree|data|datenschutz|zustimm|vie privée"
)

PARKING_HOSTS = _phrases("""
    parkingcrew.net|sedoparking.com|bodis.com|parklogic.com|above.com/marketplace|dan.com/buy-domain|
    afternic.com/forsale|hugedomains.com/domain_profile|domainmarket.com|uniregistry.com/market|
    parked-content.godaddy.com|d38psrni17bvxu.cloudfront.net|cashparking|namebright.com/coming
""")
PARKING_PHRASES = _phrases("""
    this domain is for sale|this domain may be for sale|the domain is for sale|domain name is for sale|
    buy this domain|domain is parked|this web page is parked|make an offer on this domain|
    inquire about this domain|future home of something quite cool|domain name has expired|
    this domain has expired|diese domain steht zum verkauf|diese domain ist geparkt|ce domaine est à vendre|
    este dominio está en venta|welcome to nginx!|apache2 ubuntu default page|apache2 debian default page|
    this account has been suspended
""")

_CODE = r"[45]\d\d"
_AFTER_CODE = r"[ :.,!–—-]+"
_NAMES = "|".join(
    _phrases("""
    page not found|not found|file not found|object not found|forbidden|bad request|unauthorized|
    too many requests|
    internal server error|server error|bad gateway|service unavailable|service temporarily unavailable|
    gateway time-?out|gateway timeout|request timeout|access denied|permission denied|error|fehler|erreur|
    seite nicht gefunden|nicht gefunden|page introuvable|página no encontrada|pagina non trovata|
    pagina niet gevonden|страница не найдена|página não encontrada|sidan hittades inte|
    nie znaleziono strony|ページが見つかりません|页面不存在
    """)
)
_SORRIES = "|".join(
    _phrases(r"""
    (?:oops|sorry|whoops|uh-oh)|something went wrong|an error (?:has )?occurred|page (?:unavailable|missing)|
    (?:the |this |that )?(?:page|site) (?:you (?:requested|are looking for|were looking for) )?(?:is |was )?
    (?:currently |temporarily )?(?:not found|unavailable|not available|down for maintenance)|
    (?:the |this |that )?page (?:can't|can’t|cannot|could not|couldn't|couldn’t) be found|
    we(?:'re|’re| are) (?:sorry|down for maintenance)|(?:scheduled |under |site )maintenance|maintenance mode|
    we(?:'ll|’ll| will) be (?:right )?back(?: soon)?|error establishing a database connection|database error|
    web server is (?:down|returning an unknown error)|connection timed out|origin dns error|application error|
    this page (?:isn't|isn’t|is not) available
    """)
)
ERROR = re.compile(
    rf"(?:http )?(?:status )?(?:error:? )?{_CODE}(?:{_AFTER_CODE}(?:{_NAMES}))*(?: error)?"
    rf"|(?:{_NAMES})(?:{_AFTER_CODE}\(?{_CODE}\)?)?"
    rf"|(?:(?:oops|sorry|whoops)[!,. …]*)?(?:{_SORRIES}|{_NAMES})"
)
"""The whole of a title part or heading of an error page."""
