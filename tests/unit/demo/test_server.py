"""The page of a demo is for its own machine, and for whoever knows the token."""

import http.client
import json

import pytest

from threebrokers.demo.server import Server


@pytest.fixture
def pressed():
    return []


@pytest.fixture
def server(pressed):
    server = Server("Two seconds <b>", pressed.append)
    yield server
    server.close()


def ask(server, path, method="GET", body=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    told = answer.status, answer.read().decode()
    connection.close()
    return told


def test_the_page_needs_the_token(server):
    assert ask(server, f"/?token={server.token}")[0] == 200
    for wrong in ("/", "/?token=", "/?token=x", "/news", "/news?token=x"):
        status, told = ask(server, wrong)
        assert status == 403
        assert told == "Open the address that the terminal shows, with its token."


def test_its_title_is_text(server):
    assert (
        "<title>Two seconds &lt;b&gt;: Three Brokers, demo</title>"
        in ask(server, f"/?token={server.token}")[1]
    )


def test_another_name_for_this_machine_is_refused(server):
    assert ask(server, f"/?token={server.token}", Host="evil.example:80")[0] == 403
    assert ask(server, "/widget.js", Host="evil.example")[0] == 403


def test_a_file_that_is_not_the_pages_is_not_there(server):
    for path in ("/page.py", "/../server.py", "/%2e%2e/server.py"):
        assert ask(server, f"{path}?token={server.token}")[0] == 404


def test_the_panels_own_renderer_is_served(server):
    status, told = ask(server, "/widget.js")
    assert status == 200
    assert "export default { render };" in told


def test_a_key_needs_the_token_too(server, pressed):
    assert ask(server, "/do", "POST", "next")[0] == 403
    assert ask(server, "/do", "POST", "next", **{"X-Token": "x"})[0] == 403
    assert pressed == []
    assert ask(server, "/do", "POST", "next", **{"X-Token": server.token})[0] == 200
    assert pressed == ["next"]


def test_a_page_hears_the_latest_and_then_each_change(server):
    server.news.tell("scene", {"position": 0})
    server.news.tell("scene", {"position": 1})
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("GET", f"/news?token={server.token}")
    answer = connection.getresponse()
    assert event(answer) == ("scene", {"position": 1})
    server.news.tell("frame", {"words": "up"})
    assert event(answer) == ("frame", {"words": "up"})
    server.news.end()
    assert event(answer) == ("over", {})
    connection.close()


def event(answer):
    """Return the next event of a stream: its name and its data."""
    while not (line := answer.readline().decode()).startswith("event: "):
        pass
    return line.removeprefix("event: ").strip(), json.loads(answer.readline().decode().removeprefix("data: "))
