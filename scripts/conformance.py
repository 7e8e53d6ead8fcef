#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
conformance.py - every rule of the specification, its code, its tests.

The rules stand in Documentation/networking/falcon/conformance.tsv, four
columns: id, rule, code, note. An id is SECTION-N for a rule of the
specification and SECTION+N for one of ours beyond it. Code is FILE:NAME, a
function, structure or constant; FILE is in net/falcon/core unless it says
more. Code "-" is a rule that core does not carry, and the note says why.

A unit test names the rules that it holds core to in the comment above it:

	/* spec: ID [ID...] what it does, in our words */
	TEST(name)

or, without an id, a rule that the specification leaves to us. A kselftest in
tools/testing/selftests/net/falcon does so for what the kernel around core
carries out, in a comment of one line above its function:

	# spec: ID [ID...]
	name()

This joins all and writes conformance.rst; --check writes nothing. Either fails on a rule
without test or code, on an id that no rule has, on a marker without test, and
--check on a page that is stale.
"""
import os
import re
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DOC = 'Documentation/networking/falcon/'
TABLE = DOC + 'conformance.tsv'
PAGE = DOC + 'conformance.rst'
TESTS = 'tools/testing/falcon/unit'
SELFTESTS = 'tools/testing/selftests/net/falcon'
CORE = 'net/falcon/core/'

ID = re.compile(r'\d+(?:\.\d+)*[-+]\d+$')
SECTION = re.compile(r'\d+(\.\d+)*,?$')

errors = []


def complain(text):
    errors.append(text)


def read(path):
    with open(os.path.join(TOP, path), encoding='utf-8') as file:
        return file.read()


def order(rule_id):
    """Sections by number; in each, the specification's rules, then ours."""
    section, kind, number = re.match(r'(.*)([-+])(\d+)$', rule_id).groups()
    return [int(part) for part in section.split('.')], kind == '+', int(number)


def section_of(rule_id):
    return re.split('[-+]', rule_id)[0]


class Rule:
    def __init__(self, line):
        self.id, self.text, self.code, self.note = line.split('\t')
        self.tests = []

    def conflict(self):
        return self.note.startswith('conflict, resolved as')

    def elsewhere(self):
        return self.code == '-'


def read_rules():
    rules = {}
    last = None
    for number, line in enumerate(read(TABLE).splitlines(), 1):
        where = f'{TABLE}:{number}'
        if line.startswith('#'):
            continue
        if line.count('\t') != 3:
            complain(f'{where}: not four columns')
            continue
        rule = Rule(line)
        if not ID.match(rule.id):
            complain(f'{where}: {rule.id} is no id')
        elif rule.id in rules:
            complain(f'{where}: {rule.id} is there already')
        elif last and order(rule.id) < order(last):
            complain(f'{where}: {rule.id} stands after {last}')
        else:
            rules[rule.id] = rule
            last = rule.id
    return rules


def defines(source, name):
    """Is NAME, a function, structure, enumeration or macro, defined here?"""
    name = re.escape(name)
    return re.search(
        rf'^(?:[a-zA-Z_][^\n;=]*\b)?{name}\([^;{{]*\)\s*\{{'
        rf'|^(?:struct|enum) {name} \{{|^#define {name}\b', source, re.M)


def check_code(rule):
    if rule.elsewhere():
        if not re.match('not (in core|offered): ', rule.note):
            complain(f'{TABLE}: {rule.id} says not why it has no code')
        return
    path, _, name = rule.code.rpartition(':')
    if '/' not in path:
        path = CORE + path
    if not os.path.exists(os.path.join(TOP, path)):
        complain(f'{TABLE}: {rule.id}: there is no {path}')
    elif not defines(read(path), name):
        complain(f'{TABLE}: {rule.id}: {path} does not define {name}')


def markers(path):
    """(words of the marker, test) for each marker in a file of tests."""
    source = read(path)
    for match in re.finditer(r'/\*(?:(?!\*/).)*?\bspec: (.*?)\*/\n([^\n]*)',
                             source, re.S):
        words = re.sub(r'\n \*(?= |$)', '\n', match.group(1), flags=re.M)
        words = words.split('\n\n')[0].split()
        test = re.match(r'TEST\((\w+)\)', match.group(2))
        if not test:
            line = source.count('\n', 0, match.start()) + 1
            complain(f'{path}:{line}: no test after this marker')
            continue
        yield words, test.group(1)


def join_selftests(rules):
    for name in sorted(os.listdir(os.path.join(TOP, SELFTESTS))):
        if not name.endswith('.sh'):
            continue
        for match in re.finditer(r'^# spec: (.*)\n(?:#.*\n)*(.*)',
                                 read(f'{SELFTESTS}/{name}'), re.M):
            test = re.match(r'(\w+)\(\)', match.group(2))
            if not test:
                complain(f'{SELFTESTS}/{name}: no test after "spec: '
                         f'{match.group(1)}"')
                continue
            for rule_id in match.group(1).split():
                if rule_id in rules:
                    rules[rule_id].tests.append((name, test.group(1)))
                else:
                    complain(f'{name}: there is no rule {rule_id}')


def join(rules):
    """Gives rules their tests; returns tests of rules that are our own."""
    own = []
    for name in sorted(os.listdir(os.path.join(TOP, TESTS))):
        if not re.match(r'test_\w+\.c$', name):
            continue
        for words, test in markers(f'{TESTS}/{name}'):
            ids = []
            while words and ID.match(words[0]):
                ids.append(words.pop(0))
            if not ids and words and SECTION.match(words[0]):
                complain(f'{name}: {test}: {words[0]} is a section, no rule')
            if not ids:
                own.append((name, test, ' '.join(words)))
            for rule_id in ids:
                if rule_id in rules:
                    rules[rule_id].tests.append((name, test))
                else:
                    complain(f'{name}: {test}: there is no rule {rule_id}')
    return own


def check(rules):
    for rule in rules.values():
        check_code(rule)
        if rule.elsewhere() and rule.tests:
            complain(f'{rule.id} has a test, and no code')
        if not rule.elsewhere() and not rule.tests:
            complain(f'{rule.id} has no test')


def escape(text):
    return re.sub(r'([*`|])', r'\\\1', text)


def title(text, line='-'):
    return f'\n{text}\n{line * len(text)}\n'


def cells(*columns):
    """One row of a list-table."""
    lines = []
    for i, column in enumerate(columns):
        first, *rest = column
        lines.append(f'   {"*" if i == 0 else " "} - {first}'.rstrip())
        lines += [f'       {line}'.rstrip() for line in rest]
    return '\n'.join(lines)


def header(*names, widths):
    return (f'\n.. list-table::\n   :widths: {widths}\n   :header-rows: 1\n\n'
            + cells(*[[name] for name in names]))


def program(file):
    """Of unit tests without prefix and suffix, of kselftests as it is"""
    return file if file.endswith('.sh') else file[5:-2]


def row(rule):
    text = [escape(rule.text)]
    if rule.note:
        note = escape(rule.note)
        note = note[0].upper() + note[1:]
        text += ['', f'*{note}*' if not rule.conflict() else f'**{note}**']
    held = ['none'] if rule.elsewhere() else []
    for file, test in rule.tests:
        held += [f'| {program(file)}: ``{test}``']
    code = '' if rule.elsewhere() else f'``{rule.code}``'
    return cells([rule.id], text, [code], held or ['none'])


def page(rules, own):
    held = [rule for rule in rules.values() if not rule.elsewhere()]
    conflicts = [rule for rule in held if rule.conflict()]
    ours = [rule for rule in held if '+' in rule.id]
    out = [f'''\
.. SPDX-License-Identifier: GPL-2.0
.. Made by scripts/conformance.py of conformance.tsv: do not edit.

===========
Conformance
===========

The rules of OCP *Falcon Transport Protocol* Rev 0.9 in our words, where each
is carried out, and the tests that hold the code to it: unit tests
(``tools/testing/falcon/unit``), or kselftests, whose names end in ``.sh``
(``tools/testing/selftests/net/falcon``). Files are in ``net/falcon/core``. A rule is numbered within
its section: 9.1.2-3 is the third of 9.1.2; 9.1.4+2 is one of ours, beyond the
specification. Where that contradicts itself the rule says what the conflict
was resolved as. ``make conformance`` verifies that every rule has its code
and a test.

{len(held)} rules: {len(held) - len(ours)} of the specification,
{len(conflicts)} of these conflicts resolved, and {len(ours)} beyond it.''']
    section = None
    for rule in rules.values():
        if section_of(rule.id) != section:
            section = section_of(rule.id)
            out.append(title(f'Section {section}'))
            out.append(header('Rule', 'What it says', 'Code', 'Tests',
                              widths='10 45 20 25')[1:])
        out.append(row(rule))
    out.append(title('Left to the implementation'))
    out.append('The specification says nothing of these.')
    out.append(header('Test', 'Rule', widths='40 60'))
    for file, test, text in own:
        out.append(cells([f'{file[5:-2]}: ``{test}``'], [escape(text)]))
    return '\n'.join(out) + '\n'


def main():
    if sys.argv[1:] not in ([], ['--check']):
        sys.exit('usage: scripts/conformance.py [--check]')
    rules = read_rules()
    own = join(rules)
    join_selftests(rules)
    check(rules)
    text = page(rules, own)
    if not sys.argv[1:]:
        with open(os.path.join(TOP, PAGE), 'w', encoding='utf-8') as file:
            file.write(text)
    elif not os.path.exists(os.path.join(TOP, PAGE)) or read(PAGE) != text:
        complain(f'{PAGE} is stale: run scripts/conformance.py')
    for error in errors:
        print(error, file=sys.stderr)
    held = [rule for rule in rules.values() if not rule.elsewhere()]
    print(f'{len(held)} rules, {sum(bool(r.tests) for r in held)} tested')
    sys.exit(bool(errors))


main()
