package login

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/authserver"
)

func TestAPersonSignsInOnceAndTheTokenIsKept(t *testing.T) {
	with(t, func(t *testing.T, b *bench) {
		first := b.want()
		if shown := b.shown.String(); !strings.Contains(shown, origin+"/oauth/device?user_code=") || !strings.Contains(shown, "as ann@example.com.") {
			t.Errorf("the person reads %q", shown)
		}
		info, err := os.Stat(filepath.Join(b.files.Path, fileOf(origin)))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v %v, want a file of mode 0600", info, err)
		}
		b.person, b.lost = false, true
		later(58 * time.Minute)
		if second := b.want(); second != first {
			t.Error("a good token was not printed again")
		}
	})
}

func TestATokenNearItsEndIsRefreshedWithoutAPerson(t *testing.T) {
	with(t, func(t *testing.T, b *bench) {
		first := b.want()
		b.person = false
		for range 3 {
			later(59*time.Minute + time.Second)
			second := b.want()
			if second == first {
				t.Error("the token was not refreshed")
			}
			first = second
		}
	})
}

func TestProcessesDoNotRefreshAtOnce(t *testing.T) {
	with(t, func(t *testing.T, b *bench) {
		b.want()
		b.person = false
		later(59*time.Minute + time.Second)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() { b.want() })
		}
		all.Wait()
		if n := b.renewed.Load(); n != 1 {
			t.Errorf("refreshed %d times", n)
		}
	})
}

func TestARefusedRefreshAsksThePersonAgain(t *testing.T) {
	with(t, func(t *testing.T, b *bench) {
		b.want()
		later(2 * time.Hour)
		b.idp.refused = authserver.ErrRefused
		b.person = false
		b.refused("run this in a terminal: caddy gatehouse login " + origin)
		b.person = true
		b.shown.Reset()
		b.want()
		if !strings.Contains(b.shown.String(), "code: ") {
			t.Error("nobody was asked")
		}
	})
}

func TestAGatewayThatIsAwayEndsNoSignIn(t *testing.T) {
	with(t, func(t *testing.T, b *bench) {
		first := b.want()
		b.lost = true
		later(59*time.Minute + 30*time.Second)
		if second := b.want(); second != first {
			t.Error("the token was good for half a minute more")
		}
		later(time.Hour)
		b.refused("the token cannot be refreshed: ")
		b.lost, b.person = false, false
		b.want()
	})
}

func TestWithoutATerminalNobodyIsAsked(t *testing.T) {
	with(t, func(t *testing.T, b *bench) {
		b.person, b.lost = false, true
		b.refused("nobody is signed in at " + origin)
		if b.shown.Len() > 0 {
			t.Errorf("shown: %q", b.shown.String())
		}
	})
}

func TestLogoutEndsTheTokensAndRemovesThem(t *testing.T) {
	with(t, func(t *testing.T, b *bench) {
		token := b.want()
		if err := b.signOut(t.Context(), origin); err != nil {
			t.Fatal(err)
		}
		if _, _, err := b.server.Find(t.Context(), token); !errors.Is(err, authserver.ErrGone) {
			t.Errorf("the token is good: %v", err)
		}
		if err := b.signOut(t.Context(), origin); err != nil || !strings.Contains(b.shown.String(), "Nobody was signed in") {
			t.Errorf("%v, %q", err, b.shown.String())
		}
		b.person = false
		b.refused("nobody is signed in")
	})
}

func TestLogoutRemovesTheTokensOfAGatewayThatIsAway(t *testing.T) {
	with(t, func(t *testing.T, b *bench) {
		b.want()
		b.lost = true
		if err := b.signOut(t.Context(), origin); err == nil || !strings.Contains(err.Error(), "not revoked") {
			t.Errorf("%v", err)
		}
		b.person = false
		b.refused("nobody is signed in")
	})
}

// What is no gateway, or another one, gets no token and shows nothing in the terminal.
func TestAnswersThatAreNotOfTheGatewayAreRefused(t *testing.T) {
	metadata := func(issuer, endpoint string) string {
		return fmt.Sprintf(`{"issuer":%q,"device_authorization_endpoint":%q,"token_endpoint":%[2]q,"revocation_endpoint":%[2]q}`, issuer, endpoint)
	}
	for name, c := range map[string]struct {
		status         int
		body, sentence string
	}{
		"no authorization server": {404, "", "configuration has authorization_server"},
		"a redirect":              {302, "", "nobody can sign in"},
		"an outage":               {503, `{"error":"temporarily_unavailable","error_description":"try \u001b again"}`, `"try \x1b again"`},
		"a page":                  {200, "<html>", "want JSON"},
		"no end":                  {200, strings.Repeat(" ", maxAnswer+1), "too large"},
		"another origin":          {200, metadata("https://other.example.com", ""), `calls itself "https://other.example.com"`},
		"an endpoint elsewhere":   {200, metadata(origin, "https://ai.example.com.evil.example/"), "endpoint elsewhere"},
		"no code":                 {200, metadata(origin, origin+"/x"), "without a code"},
	} {
		t.Run(name, func(t *testing.T) {
			with(t, func(_ *testing.T, b *bench) {
				b.edit = func(w http.ResponseWriter) bool {
					w.Header().Set("Location", origin+"/elsewhere")
					w.WriteHeader(c.status)
					_, _ = io.WriteString(w, c.body)
					return true
				}
				b.refused(c.sentence)
			})
		})
	}
}

func TestACodeThatNobodyTypesEnds(t *testing.T) {
	with(t, func(t *testing.T, b *bench) {
		b.tell = io.Discard
		began := time.Now()
		b.refused("nobody has signed in while the code was good")
		if took := time.Since(began); took < 9*time.Minute || took > 11*time.Minute {
			t.Errorf("waited %v", took)
		}
	})
}

func TestOriginsAreThoseOfGateways(t *testing.T) {
	for address, want := range map[string]string{
		"https://AI.example.com/": origin, "https://ai.example.com:8443": "https://ai.example.com:8443", "http://127.0.0.1:8080": "http://127.0.0.1:8080",
		"http://localhost": "http://localhost", "http://ai.example.com": "", "https://ai.example.com/v1": "", "ai.example.com": "", "ftp://ai.example.com": "",
		"https://user@ai.example.com": "", "https://ai.example.com/?a": "", "https://": "",
	} {
		if got, err := parseOrigin(address); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v; want %q", address, got, err, want)
		}
	}
}
