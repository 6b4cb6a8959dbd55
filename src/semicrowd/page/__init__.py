"""``report.html`` of a run: one file for people, without a network, a script or a second file.

:func:`semicrowd.page.build.render` makes it of a fitted result and its data, with ``templates/page.html``, which
escapes every name. ``questions`` has the pairs to ask about, which a run writes into a file.
"""
