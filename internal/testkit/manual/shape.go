package manual

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// anything, in a documented answer, is what the page leaves out: members, elements or a value.
const anything = "…"

// SameShape compares a documented answer with a real one, and returns the first difference. Of JSON it
// compares names and types. Of other text it compares the lines that are titles of columns and the names
// at the beginning of lines, or, if there are none of either, all lines.
func SameShape(documented, real string) error {
	documented = strings.TrimSpace(documented)
	if strings.HasPrefix(documented, "{") || strings.HasPrefix(documented, "[") {
		return sameJSON(documented, real)
	}
	return sameText(documented, real)
}

// Compare compares an answer with the block of a page whose first line has the text first. Of a session
// with a command it is the output of the command.
func Compare(root, page, first, answer string) error {
	block, err := Find(root, page, first)
	if err != nil {
		return err
	}
	documented := block.Text
	if strings.HasPrefix(documented, "$ ") {
		_, documented, _ = strings.Cut(documented, "\n")
	}
	if err := SameShape(documented, answer); err != nil {
		return fmt.Errorf("%s: %w, of\n%s\n%s", block, err, documented, answer)
	}
	return nil
}

func sameJSON(documented, real string) error {
	var want, got any
	if err := json.Unmarshal([]byte(elided(documented)), &want); err != nil {
		return fmt.Errorf("the documented answer: %w", err)
	}
	if err := json.Unmarshal([]byte(real), &got); err != nil {
		return fmt.Errorf("the real answer: %w", err)
	}
	return sameValue("", want, got)
}

// elided makes JSON of a text that leaves parts out.
func elided(text string) string {
	var out strings.Builder
	var inside []rune // the brackets that are open
	quoted, escaped, last := false, false, ' '
	for _, r := range text {
		switch {
		case escaped:
			escaped = false
		case quoted && r == '\\':
			escaped = true
		case r == '"':
			quoted = !quoted
		case quoted:
		case r == '{' || r == '[':
			inside = append(inside, r)
		case (r == '}' || r == ']') && len(inside) > 0:
			inside = inside[:len(inside)-1]
		case string(r) == anything:
			out.WriteString(`"` + anything + `"`)
			if last != ':' && len(inside) > 0 && inside[len(inside)-1] == '{' {
				out.WriteString(":true")
			}
			continue
		}
		if r != ' ' && r != '\n' {
			last = r
		}
		out.WriteRune(r)
	}
	return out.String()
}

func sameValue(at string, want, got any) error {
	if want == anything || want == nil || got == nil {
		return nil
	}
	switch want := want.(type) {
	case map[string]any:
		got, ok := got.(map[string]any)
		if !ok {
			return fmt.Errorf("%s is no object", at)
		}
		for name, value := range want {
			there, ok := got[name]
			if name == anything {
				continue
			}
			if !ok {
				return fmt.Errorf("%s.%s is documented, and not in the real answer", at, name)
			}
			if err := sameValue(at+"."+name, value, there); err != nil {
				return err
			}
		}
		for name := range got {
			if _, ok := want[name]; !ok && want[anything] == nil {
				return fmt.Errorf("%s.%s is in the real answer, and not documented", at, name)
			}
		}
	case []any:
		got, ok := got.([]any)
		if !ok {
			return fmt.Errorf("%s is no list", at)
		}
		for i, element := range want {
			if element == anything {
				continue
			}
			err := fmt.Errorf("%s[%d] is documented, and the real list is empty", at, i)
			if !slices.ContainsFunc(got, func(there any) bool {
				err = sameValue(fmt.Sprintf("%s[%d]", at, i), element, there)
				return err == nil
			}) {
				return err
			}
		}
	default:
		if a, b := fmt.Sprintf("%T", want), fmt.Sprintf("%T", got); a != b {
			return fmt.Errorf("%s is %s, and documented as %s", at, b, a)
		}
	}
	return nil
}

var (
	columns = regexp.MustCompile(`^[A-Z][A-Z0-9 ()]*$`)
	label   = regexp.MustCompile(`^([A-Z][a-z]+(?: [a-z]+)*)  `)
	spaces  = regexp.MustCompile(` +`)
)

func sameText(documented, real string) error {
	lines := strings.Split(spaces.ReplaceAllString(real, " "), "\n")
	compared := false
	for line := range strings.Lines(documented) {
		line = strings.TrimRight(line, " \n")
		switch found := label.FindStringSubmatch(line); {
		case columns.MatchString(line):
			if !slices.Contains(lines, spaces.ReplaceAllString(line, " ")) {
				return fmt.Errorf("the columns %q are documented, and not in the real output", line)
			}
		case found != nil:
			if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, found[1]+" ") }) {
				return fmt.Errorf("the line %q is documented, and not in the real output", found[1])
			}
		default:
			continue
		}
		compared = true
	}
	if compared {
		return nil
	}
	for line := range strings.Lines(documented) {
		if line = spaces.ReplaceAllString(strings.TrimSpace(line), " "); line != anything && !slices.Contains(lines, line) {
			return fmt.Errorf("the line %q is documented, and not in the real output", line)
		}
	}
	return nil
}
