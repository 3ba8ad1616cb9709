package browser

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// No secret is where it can be read later, or by others: keys, the token of a desktop, the texts of
// calls.
func TestSecretsAreNowhere(t *testing.T) {
	s := demoSite(t)
	b := newTab(t, s)
	b.signIn("ops")
	b.openDesktop(demoPath)
	token := b.firstMessage()
	if len(token) != 26 {
		t.Errorf("the first message of the socket is %q", token)
	}
	secrets := append(slices.Collect(maps.Values(s.secrets)), token, canaryPrompt, b.session().Value)
	none := func(where, text string) {
		t.Helper()
		for _, secret := range secrets {
			if strings.Contains(text, secret) {
				t.Errorf("%s has %q", where, secret)
			}
		}
	}
	none("the page of the desktop", evaluate[string](b, `document.documentElement.outerHTML`))
	b.crawl(func(path string) { none(path, evaluate[string](b, `document.documentElement.outerHTML`)) })
	b.mu.Lock()
	none("a URL", strings.Join(b.requests, "\n"))
	b.mu.Unlock()
	none("the log", s.log(t))
	none("the metrics", read(t, fmt.Sprintf("http://127.0.0.1:%d/metrics", s.admin), ""))
	none("the activity", read(t, s.url("/api/v1/activity?limit=1000"), s.secrets["ops"]))
}

// firstMessage is what the page has sent first on its socket.
func (b *tab) firstMessage() string {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.sent) == 0 {
		b.t.Fatal("the page has sent nothing on a socket")
	}
	return b.sent[0]
}

// read returns the text at an address.
func read(t *testing.T, url, secret string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if secret != "" {
		r.Header.Set("Authorization", "Bearer "+secret)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK || len(text) < 100 {
		t.Fatalf("%s: %s, %d bytes (%v)", url, answer.Status, len(text), err)
	}
	return string(text)
}
