package translate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// A golden file of the other direction has what the caller of chat completions
// sent (request.json) and what the provider of responses answered (answer.json
// or stream.txt, both optional); and what comes of it: responses.json, and
// chat.json or chunks.txt. Files whose names begin with openrouter are answered
// as the second family.
func TestChatGolden(t *testing.T) {
	names, err := filepath.Glob("testdata/chat/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, name := range names {
		short := strings.TrimSuffix(filepath.Base(name), ".txtar")
		t.Run(short, func(t *testing.T) {
			g := readGolden(t, name)
			asked, req := newAsked(t, g.file("request.json"))
			g.want("responses.json", indented(t, asked.responses))
			second := strings.HasPrefix(short, "openrouter")
			if answer := g.file("answer.json"); answer != "" {
				out, _, err := chatResult(asked.Asked, answer, second)
				if err != nil {
					t.Fatal(err)
				}
				g.want("chat.json", indented(t, out))
			}
			if wire := g.file("stream.txt"); wire != "" {
				out, _ := chatStream(asked.Asked, wire, second, req.IncludeUsage)
				g.want("chunks.txt", out)
				if _, err := checkChunks(out); err != nil {
					t.Error(err)
				}
			}
			g.write()
		})
	}
}

// golden is a golden file in the hands of a test.
type golden struct {
	t       *testing.T
	name    string
	archive *txtar.Archive
}

func readGolden(t *testing.T, name string) *golden {
	t.Helper()
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return &golden{t, name, archive}
}

func (g *golden) find(name string) *txtar.File {
	for i := range g.archive.Files {
		if g.archive.Files[i].Name == name {
			return &g.archive.Files[i]
		}
	}
	return nil
}

func (g *golden) file(name string) string {
	if f := g.find(name); f != nil {
		return string(f.Data)
	}
	return ""
}

func (g *golden) want(name, got string) {
	g.t.Helper()
	f := g.find(name)
	if f != nil && string(f.Data) == got {
		return
	}
	if !*update {
		g.t.Errorf("%s: got\n%s", name, got)
		return
	}
	if f == nil {
		g.archive.Files = append(g.archive.Files, txtar.File{Name: name})
		f = &g.archive.Files[len(g.archive.Files)-1]
	}
	f.Data = []byte(got)
}

// write puts down what -update found.
func (g *golden) write() {
	if *update {
		if err := os.WriteFile(g.name, txtar.Format(g.archive), 0o644); err != nil {
			g.t.Fatal(err)
		}
	}
}

// Every field of the table that is not refused stands in a golden file.
func TestEveryChatFieldIsShown(t *testing.T) {
	names, _ := filepath.Glob("testdata/chat/*.txtar")
	shown := map[string]bool{}
	for _, name := range names {
		for _, key := range topLevel(t, readGolden(t, name).file("request.json")) {
			shown[key] = true
		}
	}
	for key, fate := range translate.ChatFields() {
		if fate != "refused" && !shown[key] {
			t.Errorf("no golden file has the field %q", key)
		}
	}
}
