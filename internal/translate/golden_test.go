package translate_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

var update = flag.Bool("update", false, "write the golden files as they are")

// A golden file has what the caller sent (request.json), how the provider is
// to be asked (options.json, optional) and what it answered (answer.json or
// stream.txt, both optional); and what comes of it: chat.json, and
// response.json or events.txt. What all responses to a request repeat of it
// is shown by echo.txtar alone, and elsewhere as "…".
func TestGolden(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			file := func(name string) *txtar.File {
				for i := range archive.Files {
					if archive.Files[i].Name == name {
						return &archive.Files[i]
					}
				}
				return nil
			}
			want := func(name, got string) {
				f := file(name)
				if f != nil && string(f.Data) == got {
					return
				}
				if !*update {
					t.Errorf("%s: got\n%s", name, got)
					return
				}
				if f == nil {
					archive.Files = append(archive.Files, txtar.File{Name: name})
					f = &archive.Files[len(archive.Files)-1]
				}
				f.Data = []byte(got)
			}
			var opt translate.Options
			if f := file("options.json"); f != nil {
				if err := json.Unmarshal(f.Data, &opt); err != nil {
					t.Fatal(err)
				}
			}
			chat, echo, err := request(string(file("request.json").Data), opt)
			if err != nil {
				t.Fatal(err)
			}
			want("chat.json", indented(t, chat))

			short := strings.NewReplacer(echo.Repeated(), `,"…":"…"`)
			if strings.HasSuffix(name, "echo.txtar") {
				short = strings.NewReplacer()
			}
			if f := file("answer.json"); f != nil {
				out, _, err := translate.Result(nil, f.Data, echo, newCall(), counter{})
				if err != nil {
					t.Fatal(err)
				}
				want("response.json", indented(t, []byte(short.Replace(string(out)))))
			}
			if f := file("stream.txt"); f != nil {
				out, _ := stream(echo, string(f.Data))
				want("events.txt", short.Replace(out))
				if _, err := checkEvents(out); err != nil {
					t.Error(err)
				}
			}
			if *update {
				if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func indented(t *testing.T, text []byte) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", " "); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return b.String() + "\n"
}
