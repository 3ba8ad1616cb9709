//go:build linux

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/faults"
	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

func TestWhatAClientShowsIsRead(t *testing.T) {
	all := clientsOf(programs{})
	for _, c := range []struct{ client, output, errors, said, failed string }{
		{"codex", `{"type":"item.completed","item":{"type":"error","message":"a warning"}}
{"type":"error","message":"Reconnecting"}
{"type":"item.completed","item":{"type":"agent_message","text":"hello"}}
not JSON
`, "", "hello", ""},
		{"codex", `{"type":"turn.failed","error":{"message":"no"}}`, "", "", "no"},
		{"claude-code", `{"type":"result","is_error":false,"result":"hello"}`, "", "hello", ""},
		{"claude-code", `{"type":"result","is_error":true,"result":"no"}`, "", "", "no"},
		{"claude-code", "", "", "", "unexpected end of JSON input"},
		{"llm", "hello\n", "a warning", "hello", ""},
		{"llm", "", "a warning\nError: no", "", "Error: no"},
		{"aider", "Aider\nlitellm.BadRequestError: no", "", "", "litellm.BadRequestError: no"},
		{"opencode", `{"type":"text","part":{"text":"hello"}}` + "\n" + `{"type":"step_finish","part":{}}`, "", "hello", ""},
		{"opencode", `{"type":"error","error":{"name":"APIError","data":{"message":"no"}}}`, "", "", "no"},
		{"gemini-cli", `{"session_id":"s","response":"hello","stats":{}}`, "Warning: no colours", "hello", ""},
		{"gemini-cli", "", "Error when talking to Gemini API {\n  status: 401\n}\n{\n  \"error\": {\"message\": \"no\", \"code\": 401}\n}\n", "", "no"},
		{"openai-agents", `{"said":"hello"}`, "", "hello", ""},
		{"openai-agents", `{"failed":"no"}`, "", "", "no"},
		{"openai-agents", ``, "", "", "unexpected end of JSON input"},
	} {
		for _, tested := range all {
			if tested.name != c.client {
				continue
			}
			if said, failed := tested.read([]byte(c.output), []byte(c.errors)); said != c.said || failed != c.failed {
				t.Errorf("%s: %q is read as %q and %q", c.client, c.output, said, failed)
			}
		}
	}
}

// good is the expected observation of a run.
func good() (scenario, observation) {
	s := scenario{name: "s", says: "hello", calls: 1, most: 2, within: time.Second, costs: true, carries: []string{"custom"}}
	return s, observation{
		said: "well, hello", took: time.Millisecond, asked: make([]asked, 2),
		upstream: []faults.Request{{Body: []byte(`{"type":"custom"}`)}}, rows: []row{{Status: 200, Model: "fake/agent", Usage: 1e-6, Priced: true}},
	}
}

func TestEachThingThatCanBeWrongIsFound(t *testing.T) {
	s, seen := good()
	r := process.NewResult("")
	if s.judge(r, seen); r.Failed != 0 || r.Passed != 7 {
		t.Fatalf("%s\n%s", r.Details(), r)
	}
	for what, change := range map[string]func(*scenario, *observation){
		"another text":        func(_ *scenario, o *observation) { o.said = "bye" },
		"an error":            func(_ *scenario, o *observation) { o.failed = "no" },
		"another error":       func(s *scenario, o *observation) { s.fails, o.failed = []string{"401"}, "403" },
		"late":                func(_ *scenario, o *observation) { o.took = time.Minute },
		"asks too often":      func(_ *scenario, o *observation) { o.asked = make([]asked, 3) },
		"asks nothing":        func(_ *scenario, o *observation) { o.asked = nil },
		"calls too often":     func(_ *scenario, o *observation) { o.upstream = append(o.upstream, o.upstream...) },
		"another kind of use": func(_ *scenario, o *observation) { o.upstream[0].Body = []byte(`{}`) },
		"no row of a success": func(_ *scenario, o *observation) { o.rows[0].Status = 502 },
		"no cost":             func(_ *scenario, o *observation) { o.rows[0].Usage = 0 },
		"no price":            func(_ *scenario, o *observation) { o.rows[0].Priced = false },
	} {
		s, seen := good()
		change(&s, &seen)
		r := process.NewResult("")
		if s.judge(r, seen); r.Failed != 1 {
			t.Errorf("%s: %d checks failed\n%s", what, r.Failed, r.Details())
		}
	}
}

func TestEveryScenarioHasAKeyAndExpectsAnEnding(t *testing.T) {
	valid := regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$`)
	names := make(map[string]bool)
	for _, c := range clientsOf(programs{}) {
		kinds := make(map[string]bool)
		c.choose(regexp.MustCompile(""))
		for _, s := range c.scenarios {
			k := s.gatewayKey(c.name)
			if !valid.MatchString(k.name) || names[k.name] {
				t.Errorf("key %q", k.name)
			}
			names[k.name] = true
			if known := k.secret == s.secret; known == s.wrong {
				t.Errorf("%s: the gateway knows the client's key: %v", k.name, known)
			}
			if (s.says == "") == (len(s.fails) == 0) || s.calls == 0 && s.most == 0 {
				t.Errorf("%s expects no ending, or two", k.name)
			}
			kinds["wrong key"] = kinds["wrong key"] || s.wrong
			kinds["cost"] = kinds["cost"] || s.costs
			kinds["tool"] = kinds["tool"] || s.calls == 2
			kinds["used-up budget"] = kinds["used-up budget"] || slices.Equal(s.key, spent)
			kinds["translated"] = kinds["translated"] || strings.Contains(s.name, "translated")
		}
		for kind, there := range kinds {
			if strings.HasPrefix(c.name, "loop-") { // it has one task
				continue
			}
			lacks := map[string]string{"aider": "tool", "gemini-cli": "translated"} // it has no tools; its API is not translated
			if !there && lacks[c.name] != kind {
				t.Errorf("%s has no scenario with: %s", c.name, kind)
			}
		}
	}
}

func TestAMissingClientIsAFailure(t *testing.T) {
	for _, c := range clientsOf(programs{}) {
		if r := (options{}).drive(t.Context(), c, nil, ""); r.Failed != 1 || r.Passed != 0 {
			t.Errorf("%s without its program: %s", c.name, r)
		}
	}
}

// The versions in the results are the installed ones.
func TestVersionsAreThePinnedOnes(t *testing.T) {
	pins := ""
	for _, file := range []string{"node/package.json", "aisdk/package.json", "python/requirements.txt", "python/libraries.txt", "python/aider.txt"} {
		text, err := os.ReadFile(filepath.FromSlash(file))
		if err != nil {
			t.Fatal(err)
		}
		pins += string(text)
	}
	pin := map[string]string{
		"codex": "codex@%s-linux-x64", "claude-code": `claude-code-linux-x64": "%s"`, "opencode": `"opencode-linux-x64-baseline": "%s"`,
		"openai-agents": "openai-agents==%s\n", "llm": "llm==%s\n", "aider": "aider-chat==%s\n", "langchain-openai": "langchain-openai==%s\n",
		"pydantic-ai": "pydantic-ai-slim==%s\n", "litellm": "litellm==%s\n", "ai-sdk": `"ai": "%s"`, "gemini-cli": `"@google/gemini-cli": "%s"`,
		"loop-openai": "\nopenai==%s\n", "loop-anthropic": "\nanthropic==%s\n",
	}
	for _, c := range clientsOf(programs{}) {
		if want := strings.Replace(pin[c.name], "%s", c.version, 1); want == "" || !strings.Contains(pins, want) {
			t.Errorf("%s: %s is not pinned", c.name, want)
		}
	}
}

// docs/clients.md has what a run sets, docs/agents.md that of one at a desktop.
func TestTheManualHasTheSettingsOfEveryRun(t *testing.T) {
	manual := ""
	for _, page := range []string{"clients.md", "agents.md"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
		if err != nil {
			t.Fatal(err)
		}
		manual += string(text)
	}
	for _, c := range clientsOf(programs{sources: "."}) {
		var texts []string
		if c.script != "" {
			text, err := settingsOf(strings.Replace(c.script, "ai_sdk_agent.mjs", "aisdk/ai_sdk_agent.mjs", 1))
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, text)
		} else if c.settings != nil {
			for _, s := range c.scenarios {
				for _, set := range c.settings(s) {
					texts = append(texts, set.text)
				}
			}
		}
		for _, text := range texts {
			if !strings.Contains(manual, "\n"+text+"```\n") {
				t.Errorf("%s: the manual lacks\n%s", c.name, text)
			}
		}
	}
}

// settingsOf are the lines of a script between its two comments, without their indentation.
func settingsOf(script string) (string, error) {
	text, err := os.ReadFile(filepath.FromSlash(script))
	if err != nil {
		return "", err
	}
	_, rest, _ := strings.Cut(string(text), " settings\n")
	found, _, _ := strings.Cut(rest, " end of settings\n")
	found = found[:strings.LastIndexByte(found, '\n')+1]
	indent := found[:len(found)-len(strings.TrimLeft(found, " \t"))]
	return strings.ReplaceAll("\n"+found, "\n"+indent, "\n")[1:], nil
}

func TestShapeOfABodyCountsAllTools(t *testing.T) {
	got := shape([]byte(`{"model":"m","tools":[{"type":"custom"}],"input":[{"type":"message"},
		{"type":"additional_tools","tools":[{"type":"namespace","tools":[{"type":"custom"}]}]}]}`))
	if want := "fields [input model tools], tools map[custom:2 namespace:1]"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
