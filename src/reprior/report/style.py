"""How a report page looks: on a phone and a desk, by day and by night."""

STYLE = """\
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1f2328; --faint: #59636e; --line: #d8dee4; --stripe: #f6f8fa;
  --accent: #0b5cad;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171b; --ink: #e3e7ec; --faint: #9aa4af; --line: #343b44; --stripe: #1c2127;
    --accent: #79b8ff;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0 auto; padding: 1.5rem clamp(1rem, 4vw, 3rem) 4rem; max-width: 76rem;
  background: var(--paper); color: var(--ink);
  font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  overflow-wrap: break-word;
}
h1 { font-size: clamp(1.6rem, 1.2rem + 2vw, 2.3rem); line-height: 1.2; margin: 1rem 0; }
h2 {
  font-size: 1.3rem; line-height: 1.3; margin: 2.8rem 0 0.8rem; padding-top: 1.2rem;
  border-top: 1px solid var(--line);
}
h3 { font-size: 0.95rem; line-height: 1.4; margin: 0 0 0.5rem; }
h1, h2 { letter-spacing: -0.01em; text-wrap: balance; }
p { max-width: 44rem; margin: 0.8rem 0; }
a { color: var(--accent); }
nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: 0.3rem 1.3rem; padding: 0; }
.callout {
  max-width: 44rem; margin: 1.2rem 0; padding: 0.2rem 1.1rem;
  border-left: 4px solid var(--accent); background: var(--stripe); border-radius: 0 6px 6px 0;
}
.scroll { overflow-x: auto; max-width: 100%; }
.table { margin: 1.6rem 0; }
table {
  border-collapse: separate; border-spacing: 0; font-size: 0.875rem; line-height: 1.35;
  font-variant-numeric: tabular-nums;
}
th, td { padding: 0.28rem 0.7rem; text-align: right; white-space: nowrap; }
th:first-child {
  text-align: left; position: sticky; left: 0; z-index: 1; background: var(--paper);
  padding-left: 0;
}
tbody th { font-weight: 500; }
thead th { border-bottom: 1.5px solid var(--ink); }
tbody + tbody tr:first-child > * { border-top: 1px solid var(--line); }
tbody tr:first-child > * { padding-top: 0.5rem; }
tbody tr:last-child > * { padding-bottom: 0.5rem; }
tbody:last-child tr:last-child > * { border-bottom: 1.5px solid var(--ink); }
.light > * { color: var(--faint); font-size: 0.8rem; padding-top: 0; }
.light th { font-weight: 400; padding-left: 1rem; }
u { text-underline-offset: 0.18em; }
.note { color: var(--faint); font-size: 0.85rem; line-height: 1.5; margin: 0.5rem 0 0; }
.numbers { white-space: nowrap; }
figure { margin: 1.6rem 0; }
.card { background: #ffffff; border: 1px solid var(--line); border-radius: 8px; padding: 0.8rem; }
.card svg { display: block; width: 100%; height: auto; margin: 0 auto; }
footer { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: 1rem; }
summary { cursor: pointer; color: var(--faint); }
dl { font-size: 0.875rem; }
dl div { display: flex; gap: 0 1rem; padding: 0.15rem 0; }
dt { color: var(--faint); flex: 0 0 7rem; }
dd {
  margin: 0; min-width: 0; overflow-wrap: anywhere;
  font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
}
@media print { nav, .numbers { display: none; } details > * { display: block; } }
"""
