OPENSTACK_HOST = "127.0.0.1"
OPENSTACK_KEYSTONE_URL = "http://127.0.0.1:15000/v3"
OPENSTACK_KEYSTONE_MULTIDOMAIN_SUPPORT = False
ALLOWED_HOSTS = ["127.0.0.1", "localhost"]
SECRET_KEY = "<horizon>"
WEBROOT = "/"
LOGIN_URL = "/auth/login/"
LOGOUT_URL = "/auth/logout/"
STATIC_URL = "/static/"
SESSION_ENGINE = "django.contrib.sessions.backends.signed_cookies"
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.memcached.PyMemcacheCache",
        "LOCATION": "127.0.0.1:11211",
    },
}
COMPRESS_OFFLINE = True
NFVBED_URL = "http://127.0.0.1:8080"
NFVBED_SOCKET = "/run/nfvbed/dashboard.socket"
NFVBED_TIMEOUT_S = 10
NFVBED_SITES = ["devcloud", "devcloud-sol", "devcloud-pair"]
