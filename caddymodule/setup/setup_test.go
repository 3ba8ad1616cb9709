package setup_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/setup"
)

var update = flag.Bool("update", false, "write the golden files")

func nothing(string) string { return "" }

func TestAFirstCaddyfileIsAsPeopleWriteIt(t *testing.T) {
	for name, a := range map[string]setup.Answers{
		"nothing": {},
		"everything": {
			Host: "gateway.corp.internal", InternalCA: true, Key: "team", Budget: "20usd/month", Catalog: "model_prices.json",
			Providers:    []string{"openai", "openrouter", "anthropic", "gemini", "mistral", "test", "ollama=http://127.0.0.1:11434/v1"},
			Workstations: []string{"desk1=10.0.0.7:5901", "desk2=[2001:db8::1]:5901"},
		},
	} {
		secrets := func(variable string) string {
			return map[string]string{"OPENAI_API_KEY": "sk-planted", "DESK2_VNC_PASSWORD": "vnc-planted"}[variable]
		}
		text, env, missing, err := setup.Made(a, nil, secrets)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		golden := filepath.Join("testdata", name+".Caddyfile")
		if *update {
			if err := os.WriteFile(golden, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil || text != string(want) {
			t.Errorf("%s: %v, %s", name, err, text)
		}
		if formatted := caddyfile.Format([]byte(text)); !bytes.Equal(formatted, []byte(text)) {
			t.Errorf("%s: caddy fmt would write %s", name, formatted)
		}
		if strings.Contains(text, "planted") || !strings.Contains(env, "\nGATEWAY_API_KEY=gh-") {
			t.Errorf("%s: the secrets are where they should not be", name)
		}
		if name == "everything" {
			if !strings.Contains(env, "\nOPENAI_API_KEY=sk-planted\n") || !strings.Contains(env, "\nDESK2_VNC_PASSWORD=vnc-planted\n") ||
				strings.Join(missing, " ") != "OPENROUTER_API_KEY ANTHROPIC_API_KEY GEMINI_API_KEY MISTRAL_API_KEY" {
				t.Errorf("missing %v, in %s", missing, env)
			}
		}
	}
}

func TestWrongAnswersAreRefusedAndSayWhatIsWanted(t *testing.T) {
	for want, a := range map[string]setup.Answers{
		`host "gw": want a name such as gateway.example.com`: {Host: "gw"},
		`host "a.b {": want`:                                            {Host: "a.b {"},
		`key "a b": want lower-case letters`:                            {Key: "a b"},
		"a budget of money needs prices: give --catalog":                {Budget: "20usd/month"},
		`budget "1M tokens/day }": want such as`:                        {Budget: "1M tokens/day }"},
		"budget":                                                        {Budget: "lots"},
		`provider "gpt" is not known here: want openai, openrouter`:     {Providers: []string{"gpt"}},
		"provider openai is given twice":                                {Providers: []string{"openai", "openai"}},
		"provider o=ftp://x: want its address":                          {Providers: []string{"o=ftp://x"}},
		"provider o=http://x/{env.Y}: want its address":                 {Providers: []string{"o=http://x/{env.Y}"}},
		`provider "test": want another name`:                            {Providers: []string{"test=http://x"}},
		`workstation "desk1": want NAME=HOST:PORT`:                      {Workstations: []string{"desk1"}},
		"workstation d is given twice":                                  {Workstations: []string{"d=a:1", "d=b:1"}},
		"two names would have the variable D_1_VNC_PASSWORD":            {Workstations: []string{"d-1=a:1", "d.1=b:1"}},
		"OPENAI_API_KEY: the value has a character that an environment": {Providers: []string{"openai"}},
	} {
		_, _, _, err := setup.Made(a, nil, func(string) string { return "a b" })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", a, err, want)
		}
	}
}

func TestQuestionsAreAskedAgainUntilTheAnswerIsUsable(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	t.Setenv("DESK1_VNC_PASSWORD", "")
	var out strings.Builder
	secrets := []string{"sk-typed", ""}
	talk := &setup.Talk{
		In:    strings.NewReader("gw\ngw.example.com\nopenai\nTeam A\n\n1M tokens/day\ndesk1=10.0.0.7:5901\nno\n"),
		Out:   &out,
		Given: func(flag string) bool { return false },
		Secret: func() (text string, err error) {
			text, secrets = secrets[0], secrets[1:]
			return text, nil
		},
	}
	text, env, missing, err := setup.Made(setup.Answers{}, talk, nothing)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"local_certs", "gw.example.com {", "provider openai", "key dev {", "budget 1M tokens/day", "workstation desk1 10.0.0.7:5901"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	if !strings.Contains(env, "OPENAI_API_KEY=sk-typed\n") || len(missing) != 0 || strings.Contains(out.String(), "sk-typed") {
		t.Errorf("%v, %s", missing, out.String())
	}
	if !strings.Contains(out.String(), `  host "gw": want a name such as gateway.example.com`) || !strings.Contains(out.String(), `  key "Team A": want lower-case`) {
		t.Errorf("%s", out.String())
	}
	talk.In, talk.Given = strings.NewReader(""), func(string) bool { return false }
	if _, _, _, err := setup.Made(setup.Answers{}, talk, nothing); err == nil || !strings.Contains(err.Error(), "nothing was written") {
		t.Errorf("%v", err)
	}
}
