"""``report.html`` of a run: one file for people, without a network, a script or a second file.

:func:`semicrowd.page.build.render` makes it of a fitted result and its data; what it says is computed in
``clusters``, ``annotators``, ``number``, ``decision`` and ``advice``, a section each, and put into
``templates/page.html``, which escapes every name. ``pairs`` has the pairs to ask about, which a run writes into a file.
"""
