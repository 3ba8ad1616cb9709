package operator

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// replaced are the options of which placeholders are replaced, by a part of their path. All others refuse
// them.
var replaced = []string{
	"key secret", "provider api_key", "provider header", "endpoint api_key", "endpoint header", "mcp api_key", "mcp header",
	"auth access_key", "auth secret_key", "auth session_token", "auth client_secret", "oauth client_secret", "webhook api_key", "webhook secret",
	"workstation password", "credential password", "credential derive", "record replay_identity", "cluster valkey", "cluster postgres", "cluster node",
	"sentinel password",
}

// word is an argument of an option in a Caddyfile.
type word struct {
	path     string // of the option: "provider endpoint api_key"
	line     int
	argument int
}

// ofCaddy are options whose blocks belong to modules of Caddy.
var ofCaddy = []string{"transport", "trust_pool"}

// argumentsOf returns the arguments in the block gatehouse of a Caddyfile.
func argumentsOf(lines []string) (all []word) {
	var blocks []string
	for i, line := range lines {
		line, _, _ = strings.Cut(line, "#")
		line, opens := strings.CutSuffix(strings.TrimSpace(line), "{")
		words := strings.Fields(line)
		inside := slices.Index(blocks, "gatehouse") == 1
		if inside && len(words) > 0 && words[0] != "}" && !slices.ContainsFunc(ofCaddy, func(name string) bool { return words[0] == name || slices.Contains(blocks, name) }) {
			path := strings.Join(append(slices.Clone(blocks[2:]), words[0]), " ")
			for argument := range words[1:] {
				all = append(all, word{path, i, argument + 1})
			}
		}
		switch {
		case opens && len(words) == 0:
			blocks = append(blocks, "")
		case opens:
			blocks = append(blocks, words[0])
		case len(words) == 1 && words[0] == "}" && len(blocks) > 0:
			blocks = blocks[:len(blocks)-1]
		}
	}
	return all
}

// data_dir {env.X} was a folder named {env.X}, with the ledger in it.
func TestEachOptionReplacesAPlaceholderOrRefusesItByName(t *testing.T) {
	for name, value := range goldenEnv {
		t.Setenv(name, value)
	}
	t.Setenv("PLACED", "a-value-of-the-environment-0123456789")
	paths, err := filepath.Glob("testdata/adapt/*.caddytest")
	if err != nil {
		t.Fatal(err)
	}
	tried := map[string]bool{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for c := range strings.SplitSeq(string(text), goldenEnd) {
			input, want, _ := strings.Cut(c, goldenMiddle)
			if strings.HasPrefix(want, "error:") {
				continue
			}
			lines := strings.Split(input, "\n")
			for _, w := range argumentsOf(lines) {
				if id := w.path + strconv.Itoa(w.argument); !tried[id] {
					tried[id] = true
					tryPlaceholder(t, lines, w)
				}
			}
		}
	}
	if len(tried) < 150 {
		t.Errorf("tried %d: %q", len(tried), slices.Sorted(maps.Keys(tried)))
	}
}

func tryPlaceholder(t *testing.T, lines []string, w word) {
	t.Helper()
	const placed = "{env.PLACED}"
	lines = slices.Clone(lines)
	begin, words := lines[w.line], strings.Fields(lines[w.line])
	words[w.argument] = placed
	lines[w.line] = begin[:len(begin)-len(strings.TrimLeft(begin, "\t"))] + strings.Join(words, " ")
	dir := t.TempDir()
	config, err := adaptText(strings.ReplaceAll(strings.Join(lines, "\n"), "DIR", dir))
	if err == nil {
		err = validateChangesNoFile(t, config, dir)
	}
	fields := strings.Fields(w.path)
	option := fields[len(fields)-1]
	takes := slices.ContainsFunc(replaced, func(path string) bool { return strings.HasSuffix(w.path, path) }) && (option != "header" || w.argument == 2)
	switch {
	case takes && err != nil && strings.Contains(err.Error(), "is not replaced"):
		t.Errorf("%s, argument %d: %v", w.path, w.argument, err)
	case takes, err != nil && strings.Contains(err.Error(), "wrong argument count"): // instead of a word of the grammar
	case option == "query" && err != nil && strings.Contains(err.Error(), "a placeholder is not possible: a secret belongs in a header"):
	case err == nil:
		t.Errorf("%s, argument %d: %s is taken as it stands", w.path, w.argument, placed)
	case !strings.Contains(err.Error(), placed+" is not replaced in this option: write {$PLACED} in the Caddyfile") || !namesOption(err.Error(), option, w.path):
		t.Errorf("%s, argument %d: %v", w.path, w.argument, err)
	}
}

// namesOption reports whether an error names an option: as in a Caddyfile, or as in JSON, where the blocks
// are lists.
func namesOption(text, option, path string) bool {
	const rule = "guardrails gate: rules: " // deny, redact
	return strings.Contains(text, option) || strings.Contains(text, rule) || option == path && strings.Contains(text, "name: ")
}
