"""A double of guests' agents: it answers for all guests, and keeps what was asked."""

from nfvbed.vnfs.guest import machines as guests


class FakeAgents:
    """Agents of all guests.

    Args:
        answers: by verb; one that is called gets the guest's name and the keys, an exception is raised.
    """

    def __init__(self, monkeypatch, **answers):
        self.asked = []
        self.answers = answers
        log = self

        class Fake:
            def __init__(self, channel):
                self.name = channel.path.name

            def ask(self, do, keys=None, *, timeout_s=0.0):
                log.asked.append((self.name, do, dict(keys or {})))
                answer = log.answers.get(do, {})
                answer = answer(self.name, dict(keys or {})) if callable(answer) else answer
                if isinstance(answer, Exception):
                    raise answer
                return answer

        monkeypatch.setattr(guests, "Agent", Fake)

    def verbs(self):
        """Return what was asked of whom."""
        return [(name, do) for name, do, _ in self.asked]

    def of(self, do):
        """Return who was asked one thing, and its keys."""
        return [(name, keys) for name, asked, keys in self.asked if asked == do]
