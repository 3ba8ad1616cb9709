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
	if err := update(refuse); err == nil || !strings.Contains(err.Error(), "give a flag, such as --budget") {
		t.Errorf("%v", err)
	}
}
