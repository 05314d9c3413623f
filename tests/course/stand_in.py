"""What lessons import in tests without brokers."""

import ipywidgets
from IPython.display import display


class Notice:
    def __init__(self, html):
        self.html = html

    def __repr__(self):
        return ""

    def _repr_html_(self):
        return self.html


class Buttons(ipywidgets.HTML):
    def __repr__(self):
        return "one or two?"


class Check:
    def survives_one_broker(self, topic):
        display(Buttons("?"))
        notice = display(Notice(""), display_id=True)
        notice.update(Notice("<i>Waiting for Godot …</i>"))
        notice.update(Notice(""))
        return f"solved {topic}"

    def counts_twice(self, first, second):
        return first + second


class Lab:
    check = Check()

    def quiz(self):
        return Buttons("?")

    def fresh_topic(self, name, **settings):
        return name


def open_lab(number):
    return Lab()
