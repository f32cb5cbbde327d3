"""The studio's server: this machine, its own page, its token; small requests; nothing else gives way."""

import contextlib
import http.client
import json
import random
import secrets
import socket
import time

import pytest

import credo as cr
from credo.errors import InputError, MissingPackageError

pytest.importorskip("uvicorn", reason="the studio's extra is not installed")

from credo.studio import guard, opening
from credo.studio.session import Session

TAB = "/api/0123456789abcdef/"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    tmp_path = tmp_path_factory.mktemp("page")
    (tmp_path / "static" / "assets").mkdir(parents=True)
    (tmp_path / "static" / "index.html").write_text("<!doctype html><title>page</title>")
    (tmp_path / "static" / "assets" / "app.js").write_text("export {}")
    (tmp_path / "secret.txt").write_text("secret")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(opening, "STATIC", tmp_path / "static")
        yield


@pytest.fixture(scope="module")
def net():
    return cr.Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})


@pytest.fixture(scope="module")
def opened(page, net):
    with cr.studio(net, browser=False) as studio:
        yield studio


class Client:
    """A browser's requests, one at a time, with what a test wants otherwise."""

    def __init__(self, studio):
        self.address, _, self.token = studio.url.removeprefix("http://").partition("/enter?token=")
        self.port = int(self.address.rpartition(":")[2])
        self.tab = f"/api/{secrets.token_hex(8)}/"
        self.headers = {
            "Host": self.address,
            "Cookie": f"credo_studio_{self.port}={self.token}",
            "Content-Type": "application/json",
        }

    def send(self, method, path, body=None, **headers):
        sent = {k: v for k, v in (self.headers | headers).items() if v is not None}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        data = json.dumps(body).encode() if isinstance(body, (dict, list)) else body
        if data is not None and "Content-Length" not in sent:
            sent["Content-Length"] = str(len(data))
        for name, value in sent.items():
            connection.putheader(name, value)
        connection.endheaders(data)
        answer = connection.getresponse()
        said = answer.read()
        connection.close()
        return answer, said

    def ask(self, name, body, **headers):
        answer, said = self.send("POST", self.tab + name, body, **headers)
        return answer.status, json.loads(said)

    def works(self):
        status, said = self.ask("beliefs", {"seq": 0})
        return status == 200 and said["beliefs"]["wet"]["p"] == pytest.approx([0.76, 0.24])


@pytest.fixture
def client(opened):
    return Client(opened)


def test_a_click_over_http(client):
    status, said = client.ask("click", {"seq": 1, "name": "wet", "state": 1, "how": "is"})
    assert status == 200 and said["beliefs"]["rain"]["p"] == pytest.approx([1 / 3, 2 / 3])
    answer, body = client.send("GET", "/")
    assert answer.status == 200 and b"<title>page" in body
    answer, _ = client.send("GET", "/assets/app.js")
    assert answer.status == 200 and answer.headers["Content-Type"].startswith("text/javascript")


def test_each_tab_has_its_own_session(client):
    client.ask("click", {"seq": 1, "name": "wet", "state": 1, "how": "is"})
    answer, said = client.send("POST", "/api/ffffffffffffffff/beliefs", {"seq": 0})
    assert answer.status == 200 and json.loads(said)["known"] == {}


def test_it_listens_to_the_loopback_alone(opened, client):
    assert opened.url.startswith("http://127.0.0.1:")
    others = {a[4][0] for a in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for address in others - {"127.0.0.1"}:
        with socket.socket() as probe:
            probe.settimeout(2)
            if not address.startswith("127."):
                assert probe.connect_ex((address, client.port)) != 0


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1", "", None, "0.0.0.0"]
)
def test_a_foreign_or_missing_host_is_refused(client, host):
    answer, _ = client.send("GET", "/", Host=host)
    assert answer.status in (400, 403)
    assert client.works()


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1"]
)
def test_a_foreign_origin_is_refused(client, origin):
    status, said = client.ask("beliefs", {"seq": 0}, Origin=origin)
    assert (status, said["error"]) == (403, "The studio answers to its own page alone.")
    answer, _ = client.send("OPTIONS", TAB + "beliefs", Origin=origin)
    assert answer.status == 403
    own, _ = client.ask("beliefs", {"seq": 0}, Origin=f"http://{client.address}")
    assert own == 200


def test_no_answer_has_a_cors_header_and_each_keeps_the_page_to_itself(client):
    for method, path in (("GET", "/"), ("POST", TAB + "beliefs"), ("GET", "/nothing")):
        answer, _ = client.send(method, path, b'{"seq": 0}' if method == "POST" else None)
        names = {k.lower() for k in answer.headers}
        assert not [n for n in names if n.startswith("access-control")]
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Cache-Control"] == "no-store"
        assert "server" not in names


@pytest.mark.parametrize(
    "cookie",
    [None, "", "credo_studio=1", "credo_studio_{port}=wrong", "credo_studio_{port}=\xe9", "=;=;"],
)
def test_no_token_is_401(client, cookie):
    sent = cookie and cookie.replace("{port}", str(client.port))
    for method, path in (("GET", "/"), ("GET", "/assets/app.js"), ("POST", TAB + "beliefs")):
        answer, _ = client.send(method, path, Cookie=sent)
        assert answer.status == 401
    assert client.works()


def test_the_token_becomes_a_cookie_that_no_script_reads(client):
    answer, _ = client.send("GET", f"/enter?token={client.token}", Cookie=None)
    assert answer.status == 303 and answer.headers["Location"] == "/"
    cookie = answer.headers["Set-Cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie
    for wrong in ("", "x", client.token[:-1], client.token + "x", "%00"):
        answer, _ = client.send("GET", f"/enter?token={wrong}", Cookie=None)
        assert answer.status == 401 and "Set-Cookie" not in answer.headers


def test_the_token_is_compared_in_constant_time(client, monkeypatch):
    compared = []
    real = guard.hmac.compare_digest
    monkeypatch.setattr(guard.hmac, "compare_digest", lambda a, b: compared.append(a) or real(a, b))
    assert client.works() and compared


def test_what_is_too_large_is_413_and_others_are_served(client):
    status, _ = client.ask("click", b"[" + b"1," * guard.MOST_BYTES + b"1]")
    assert status == 413
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    with socket.create_connection(("127.0.0.1", client.port), 10) as raw:
        head = f"POST {TAB}click HTTP/1.1\r\nHost: {client.address}\r\nCookie: {client.headers['Cookie']}\r\nTransfer-Encoding: chunked\r\n\r\n"
        raw.sendall(head.encode() + chunk + chunk + b"0\r\n\r\n")
        assert b" 413 " in raw.recv(200)
    assert client.works()


def test_what_is_too_slow_is_408_and_others_are_served(client, monkeypatch):
    monkeypatch.setattr(guard, "_SECONDS", 0.3)
    with socket.create_connection(("127.0.0.1", client.port), 10) as raw:
        head = f"POST {TAB}click HTTP/1.1\r\nHost: {client.address}\r\nCookie: {client.headers['Cookie']}\r\nContent-Length: 50\r\n\r\n"
        raw.sendall(head.encode() + b'{"seq"')
        assert client.works()
        assert b" 408 " in raw.recv(200)


def test_half_a_head_is_hung_up_on_and_others_are_served(client, monkeypatch):
    monkeypatch.setattr(guard, "_SECONDS", 0.3)
    half = [socket.create_connection(("127.0.0.1", client.port), 10) for _ in range(50)]
    for raw in half[:-1]:
        raw.sendall(b"GET / HTTP/1.1\r\nHo")  # the last sends nothing at all
    assert client.works()
    for raw in half:
        raw.settimeout(5)
        assert raw.recv(10) == b""  # closed
        raw.close()
    with socket.create_connection(("127.0.0.1", client.port), 10) as raw:  # a byte now and then
        raw.settimeout(5)
        with contextlib.suppress(ConnectionError):
            for byte in b"GET / HTTP":
                raw.sendall(bytes([byte]))
                time.sleep(0.05)
            assert raw.recv(10) == b""
    assert client.works()


def test_events_tell_what_changes_by_itself(client, opened):
    connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=20)
    connection.request(
        "GET", client.tab.replace("/api/", "/events/").rstrip("/"), headers=client.headers
    )
    stream = connection.getresponse()
    assert stream.headers["Content-Type"].startswith("text/event-stream")
    assert json.loads(stream.readline()[6:]) == {"version": 0, "job": None}
    client.ask("click", {"seq": 7, "name": "wet", "state": 1, "how": "is"})
    stream.readline()
    assert json.loads(stream.readline()[6:])["version"] == 7
    connection.close()
    answer, _ = client.send("GET", "/events/..%2fx")
    assert answer.status == 404
    assert Client(opened).works()


def test_a_file_is_taken_up_to_its_limit(client, monkeypatch):
    path = client.tab.replace("/api/", "/file/").rstrip("/")
    answer, said = client.send("POST", path + "?name=t.csv", b"rain,wet\nTrue,False\nFalse,True\n")
    assert answer.status == 200 and json.loads(said)["version"] == 1
    answer, said = client.send("POST", path + "?name=t.exe", b"MZ")
    assert answer.status == 400 and "is that of no table" in json.loads(said)["error"]
    monkeypatch.setattr(guard, "MOST_OF_A_FILE", 100)
    answer, _ = client.send("POST", path + "?name=t.csv", b"x" * 200)
    assert answer.status == 413
    answer, _ = client.send("POST", path + "?name=t.csv", b"x", Cookie=None)
    assert answer.status == 401


def test_bytes_of_any_kind_leave_the_server_answering(client):
    rng = random.Random(0)
    for _ in range(40):
        with socket.create_connection(("127.0.0.1", client.port), 10) as raw:
            junk = rng.randbytes(rng.choice([1, 30, 3000]))
            head = rng.choice(
                [
                    b"",
                    b"POST / HTTP/1.1\r\n",
                    f"GET / HTTP/1.1\r\nHost: {client.address}\r\n".encode(),
                ]
            )
            with contextlib.suppress(ConnectionError):
                raw.sendall(head + junk + b"\r\n\r\n")
    assert client.works()


def test_it_starts_again_at_its_address_and_knows_its_sessions(page, net, tmp_path):
    with cr.studio(net, browser=False, folder=tmp_path / "kept") as studio:
        before = Client(studio)
        before.ask("click", {"seq": 1, "name": "wet", "state": 1, "how": "is"})
        _, said = before.ask("beliefs", {"seq": 0})
    assert (tmp_path / "kept" / "address.json").stat().st_mode & 0o777 == 0o600
    with cr.studio(net, browser=False, folder=tmp_path / "kept") as again:
        assert again.url == studio.url
        status, now = before.ask("beliefs", {"seq": 0})
        assert status == 200 and now["known"] == said["known"] and now["version"] == 1
        with cr.studio(net, browser=False, folder=tmp_path / "kept") as third:
            assert third.url != studio.url  # the port is taken: another is found


def test_too_many_requests_are_429_and_then_it_goes_on(page, net, monkeypatch):
    monkeypatch.setattr(guard, "_AT_ONCE", 5.0)
    monkeypatch.setattr(guard, "_A_SECOND", 10.0)
    with cr.studio(net, browser=False) as studio:
        client = Client(studio)
        found = {client.ask("beliefs", {"seq": 0})[0] for _ in range(60)}
        assert found == {200, 429}
        time.sleep(0.3)
        assert client.works()


@pytest.mark.parametrize(
    "path",
    ["/../secret.txt", "/..%2fsecret.txt", "/%2e%2e/secret.txt", "/assets/../../secret.txt", "//etc/passwd",
     "/assets/..%5c..%5csecret.txt", "/static/index.html", "/index.html%00.js", "/api", "/api/x/open", "/session.py"],
)  # fmt: skip
def test_path_tricks_are_404(client, path):
    answer, said = client.send("GET", path)
    assert answer.status == 404 and b"secret" not in said
    answer, _ = client.send("POST", "/api/..%2f..%2fx/open", {"seq": 0})
    assert answer.status == 404


def test_a_request_must_be_json(client):
    for kind in ("text/plain", "application/x-www-form-urlencoded", None):
        status, _ = client.ask("beliefs", {"seq": 0}, **{"Content-Type": kind})
        assert status == 415
    for body in (b"", b"{", b"[" * 60_000, b'{"seq": NaN}', b"\xff\xfe", b"1" * 60_000):
        status, said = client.ask("beliefs", body)
        assert status == 400, said
    assert client.works()


def test_bad_input_is_one_sentence(client):
    status, said = client.ask("click", {"seq": 1, "name": "wett", "state": 1, "how": "is"})
    assert status == 400
    assert said == {"error": "Variable 'wett' is not in the model. Did you mean 'wet'?"}


def test_a_handler_that_fails_answers_with_an_id(client, monkeypatch, caplog):
    def fails(self, name, request):
        raise ZeroDivisionError("a secret")

    with monkeypatch.context() as patched:
        patched.setattr(Session, "dispatch", fails)
        status, said = client.ask("beliefs", {"seq": 0})
    assert status == 500 and said["id"] in said["error"]
    assert "secret" not in said["error"] and "Traceback" not in said["error"]
    assert said["id"] in caplog.text
    assert client.works()


def test_without_its_page_or_its_packages_a_sentence_says_what_to_do(net, tmp_path, monkeypatch):
    monkeypatch.setattr(opening, "STATIC", tmp_path / "nothing")
    with pytest.raises(MissingPackageError, match=r"page is not built\. Run make studio"):
        cr.studio(net, browser=False)
    monkeypatch.setitem(__import__("sys").modules, "uvicorn", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'credo\[studio\]'"):
        cr.studio(net, browser=False)


def test_what_cannot_be_opened_is_refused(page, net, opened, tmp_path):
    with pytest.raises(InputError, match="shows a Network, got Dag"):
        cr.studio(net.dag)
    with pytest.raises(InputError, match="no column of the model"):
        cr.studio(net, {"other": ["a", "b"]}, browser=False)
    (tmp_path / "many.csv").write_text("rain,wet\n" + "True,False\nFalse,True\n" * 2500)
    with pytest.raises(InputError, match="do not fit in memory"):
        cr.studio(net, cr.read(tmp_path / "many.csv", memory="1KB"), browser=False)
    with pytest.raises(InputError, match="from 0 to 65535, got 70000"):
        cr.studio(net, browser=False, port=70000)
    taken = int(opened.url.partition("/enter")[0].rpartition(":")[2])
    with pytest.raises(InputError, match=f"The port {taken} cannot be used"):
        cr.studio(net, browser=False, port=taken)


def test_the_browser_is_opened_at_the_address(page, net, monkeypatch):
    seen = []
    monkeypatch.setattr("webbrowser.open", seen.append)
    with cr.studio(net, {"rain": [True], "wet": [None]}) as studio:
        assert seen == [studio.url] and repr(studio) == f"Studio({studio.url})"
        assert Client(studio).works()
    assert repr(studio) == "Studio(closed)"


def test_the_command_says_where_it_is(page, net, tmp_path, monkeypatch):
    from click.testing import CliRunner

    from credo.cli import app

    net.save(tmp_path / "rain.bif")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(opening.Studio, "wait", opening.Studio.close)
    words = ["studio", "rain.bif", "--no-browser"]
    said = CliRunner().invoke(app, words, standalone_mode=False).stdout.splitlines()
    assert said[0] == "The studio is open; Ctrl-C closes it, and what you did is kept."
    assert said[1].startswith("http://127.0.0.1:") and len(said) == 2
    document = json.loads(CliRunner().invoke(app, [*words, "--json"], standalone_mode=False).stdout)
    assert set(document) == {"credo", "version", "model", "data", "url"}


def test_the_package_can_be_called_too(page, net):
    import credo.studio as package

    with package(net, browser=False) as studio:
        assert Client(studio).works()
