package cli

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestAKeyIsChangedInWhatFlagsNameAlone(t *testing.T) {
	var sent map[string]any
	admin := func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPatch || r.URL.Path != "/gatehouse/keys/eeefe1276a5c" {
			t.Errorf("%s %s", r.Method, r.URL)
		}
		_ = json.NewDecoder(r.Body).Decode(&sent)
		_, _ = io.WriteString(w, `{"data":{"hash":"eeefe1276a5c","name":"Ada"}}`)
	}
	update := func(admin http.HandlerFunc, args ...string) error {
		_, err := operate(t, (new(operator)).updateCommand(), admin, append([]string{"eeefe1276a5c"}, args...)...)
		return err
	}
	if err := update(admin, "--budget", "2M tokens/day", "--expires", "720h"); err != nil {
		t.Fatal(err)
	}
	text, _ := sent["expires_at"].(string)
	if end, err := time.Parse(time.RFC3339, text); err != nil || time.Until(end) < 719*time.Hour || time.Until(end) > 720*time.Hour {
		t.Errorf("it ends at %q: %v", text, err)
	}
	delete(sent, "expires_at")
	if body, _ := json.Marshal(sent); string(body) != `{"budgets":["2M tokens/day"]}` {
		t.Errorf("sent %s", body)
	}
	clear(sent)
	if err := update(admin, "--limit", "none", "--limit-reset", "none", "--expires", "none", "--concurrency", "none", "--max-output-tokens", "none", "--rate", "none", "--budget", "none", "--mcp", "none"); err != nil {
		t.Fatal(err)
	}
	if body, _ := json.Marshal(sent); string(body) != `{"budgets":[],"concurrency":null,"expires_at":null,"limit":null,"limit_reset":null,"max_output_tokens":null,"mcp":[],"rates":[]}` {
		t.Errorf("sent %s", body)
	}
	clear(sent)
	if err := update(admin, "--expires", "14d", "--max-output-tokens", "100"); err != nil {
		t.Fatal(err)
	}
	text, _ = sent["expires_at"].(string)
	if end, err := time.Parse(time.RFC3339, text); err != nil || time.Until(end).Round(time.Hour) != 14*24*time.Hour || sent["max_output_tokens"] != 100.0 {
		t.Errorf("sent %v", sent)
	}
	if err := update(refuse, "--max-output-tokens", "many"); err == nil || err.Error() != `--max-output-tokens "many": want a number of tokens, or none` {
		t.Errorf("%v", err)
	}
	if err := update(refuse); err == nil || !strings.Contains(err.Error(), "give a flag, such as --budget") {
		t.Errorf("%v", err)
	}
}

func TestAWarningAboutANewKeyIsShown(t *testing.T) {
	var notes strings.Builder
	admin := func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"data":{"hash":"eeefe1276a5c","name":"Ada"},"key":"gh-1","warnings":["it can call nothing"]}`)
	}
	out, err := operateWith(t, new(operator).createCommand(), &notes, admin, "--name", "Ada", "--limit", "5")
	if err != nil || notes.String() != "Warning: it can call nothing.\n" || !strings.Contains(out, "gh-1") || strings.Contains(out, "Warning") {
		t.Errorf("%v: %q\n%s", err, notes.String(), out)
	}
}
