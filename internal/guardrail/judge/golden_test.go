package judge_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

var update = flag.Bool("update", false, "write the golden files as they are")

// golden is the guardrail of the golden files: it redacts addresses and denies two words.
func golden(t testing.TB) guardrail.Set {
	return compiled(t, judge.Spec{Name: "house", Rules: []judge.Rule{
		{Action: judge.Redact, Detector: judge.Email},
		{Action: judge.Deny, Detector: judge.Words, Words: []string{"red mercury"}},
	}})
}

// A golden file has a request.json, an answer.json or a stream.txt, and the expected outcome in
// result.txt.
func TestGolden(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	set := golden(t)
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			switch in := archive.Files[0]; in.Name {
			case "request.json":
				if _, err := jsonscan.Strict(in.Data, nil); err != nil {
					t.Fatal(err)
				}
				result, err := set.Request(context.Background(), in.Data)
				got = outcome(result, err)
			case "answer.json":
				result, err := set.Answer(context.Background(), in.Data)
				got = outcome(result, err)
			case "stream.txt":
				wire := guardrail.Chat
				switch {
				case strings.Contains(name, "responses"):
					wire = guardrail.Responses
				case strings.Contains(name, "messages"):
					wire = guardrail.Messages
				case strings.Contains(name, "generate"):
					wire = guardrail.Generate
				}
				got = pushAll(t, newWire(set, wire), string(in.Data))
			}
			if len(archive.Files) == 2 && string(archive.Files[1].Data) == got {
				return
			}
			if !*update {
				t.Errorf("got\n%s", got)
				return
			}
			archive.Files = append(archive.Files[:1], txtar.File{Name: "result.txt", Data: []byte(got)})
			if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func outcome(result guardrail.Result, err error) string {
	switch {
	case err != nil:
		return err.Error() + "\n"
	case result.Verdict != nil:
		return fmt.Sprintf("denied: %+v\n", *result.Verdict)
	}
	return fmt.Sprintf("redacted: %+v\n%s", result.Redacted, result.Body)
}

// pushAll pushes the events of a text, one a line, and returns what is sent.
func pushAll(t testing.TB, s *wire, events string) string {
	t.Helper()
	var out strings.Builder
	name := ""
	send := func(events []sent, v *guardrail.Verdict, err error) {
		for _, e := range events {
			if len(e.name) > 0 {
				fmt.Fprintf(&out, "event: %s\n", e.name)
			}
			fmt.Fprintf(&out, "data: %s\n", e.data)
			if string(e.data) != "[DONE]" && !json.Valid(e.data) {
				t.Errorf("sent %s", e.data)
			}
		}
		if v != nil {
			fmt.Fprintf(&out, "denied: %+v\n", *v)
		}
		if err != nil {
			fmt.Fprintf(&out, "failed: %v\n", err)
		}
	}
	for line := range strings.Lines(events) {
		if n, ok := strings.CutPrefix(line, "event: "); ok {
			name = strings.TrimSpace(n)
			continue
		}
		send(s.push(name, strings.TrimPrefix(line, "data: ")))
		name = ""
	}
	rest, v := s.close()
	send(rest, v, nil)
	if len(s.Redacted()) > 0 {
		fmt.Fprintf(&out, "redacted: %+v\n", s.Redacted())
	}
	return out.String()
}
