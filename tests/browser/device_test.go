package browser

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// programSignIn lets people sign in to programs by a provider that does not answer.
const programSignIn = `
		origin ORIGIN
		encryption_secret {env.BROWSER_SIGN_IN}
		role developer {
			scopes chat:write
		}
		identity acme {
			issuer http://127.0.0.1:9
			client gatehouse {env.BROWSER_SIGN_IN}
			role developer {
				groups ai-users
			}
		}
		authorization_server
		key reader {`

// The pages on which a person compares a code are for everybody, in both browsers.
func TestThePagesOfACode(t *testing.T) {
	s := ownSite(t, "", "BROWSER_SIGN_IN="+strings.Repeat("s", 32))
	s.reload(t, s.change(t, "\n\t\tkey reader {", strings.ReplaceAll(programSignIn, "ORIGIN", s.url(""))))
	inEachBrowser(t, s, func(t *testing.T, b *tab) {
		judge := func(page, says string) {
			t.Helper()
			if !strings.Contains(b.text("main"), says) {
				t.Fatalf("%s: %q", page, b.text("main"))
			}
			b.inEveryLook(page)
			b.accessible(page)
		}
		b.open("/oauth/device")
		judge("the question for a code", "The program that you sign in to shows it")
		b.expect("status of 404")
		clickOn(b, "input[name=user_code]")
		enter(b, "BCDF-GHJK")
		clickThrough(b, "button.main")
		judge("a wrong code", "code")
		b.open(begin(t, s))
		judge("the code", "Go on only if you have begun this sign-in yourself")
		b.expect("status of 503")
		clickThrough(b, `button[value="acme"]`)
		judge("a provider that is away", "")
		b.open(begin(t, s))
		clickThrough(b, `button[value="refuse"]`)
		judge("a refusal", "Refused")
	})
}

// begin begins the sign-in of a program, and returns the path of its page.
func begin(t *testing.T, s *site) string {
	t.Helper()
	answer, err := http.PostForm(s.url("/oauth/device_authorization"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var begun struct {
		Page string `json:"verification_uri_complete"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&begun); err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(begun.Page, s.url(""))
}
