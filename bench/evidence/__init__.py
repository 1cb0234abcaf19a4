"""The tables and figures of five papers beside what was measured here: the claim, and whether it holds.

A module a paper (`routing`, `xtrie`, `relational`, `predicate`, `schema`) has a title and its exhibits; an
`Exhibit` names the files of figures it rests on, shows their rows and tells its verdict from them. `pages`
writes `docs/evidence`. ``make evidence`` runs the experiments, ``make evidence-draw`` only draws.
"""
