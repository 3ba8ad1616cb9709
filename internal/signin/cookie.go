package signin

import (
	"encoding/json"
	"net/http"
	"strings"
)

const (
	// cookieName begins the names of cookies of sign-ins under way; a part of the state follows, so
	// that several tabs can sign in. Over https it has the prefix for which browsers refuse a
	// cookie of another host.
	cookieName  = "gatehouse-sign-in-"
	hostPrefix  = "__Host-"
	stateInName = 8

	// maxUnderWay is how many sign-ins a browser can have under way. The next one ends the others:
	// servers bound the header.
	maxUnderWay = 4
	// maxCookie bounds a cookie, in bytes, as browsers do.
	maxCookie = 4 << 10

	sealedFlow = "sign-in under way"
)

// flow is a sign-in under way.
type flow struct {
	Identity string `json:"i"`
	Origin   string `json:"o"`
	State    string `json:"s"`
	Nonce    string `json:"n"`
	Verifier string `json:"v"` // of PKCE
	Next     Next   `json:"x"`
	Ends     int64  `json:"e"` // Unix seconds
}

func (s *SignIns) secure() bool { return strings.HasPrefix(s.origin, "https:") }

func (s *SignIns) prefix() string {
	if s.secure() {
		return hostPrefix + cookieName
	}
	return cookieName
}

// keep gives the browser a sign-in that begins.
func (s *SignIns) keep(w http.ResponseWriter, r *http.Request, f *flow) {
	var others []string
	for _, c := range r.Cookies() {
		if state, ours := strings.CutPrefix(c.Name, s.prefix()); ours {
			others = append(others, state)
		}
	}
	if len(others) >= maxUnderWay {
		for _, state := range others {
			s.set(w, state, "", -1)
		}
	}
	text, _ := json.Marshal(f) // of texts and a number
	s.set(w, f.State, s.sealer.Seal(sealedFlow, string(text)), int(underWay.Seconds()))
}

// kept returns the sign-in that a request ends, as the browser has begun it.
func (s *SignIns) kept(r *http.Request) (f flow, ok bool) {
	state := r.URL.Query().Get("state")
	if len(state) < stateInName || len(state) > maxCode {
		return f, false
	}
	c, err := r.Cookie(s.prefix() + state[:stateInName])
	if err != nil || len(c.Value) > maxCookie {
		return f, false
	}
	text, ok := s.sealer.Open(sealedFlow, c.Value)
	if !ok || json.Unmarshal([]byte(text), &f) != nil || !equal(f.State, state) || f.Origin != s.origin || s.now().Unix() >= f.Ends {
		return flow{}, false
	}
	return f, true
}

// forget takes a sign-in from the browser.
func (s *SignIns) forget(w http.ResponseWriter, state string) { s.set(w, state, "", -1) }

func (s *SignIns) set(w http.ResponseWriter, state, value string, maxAge int) {
	http.SetCookie(w, &http.Cookie{
		Name: s.prefix() + state[:min(len(state), stateInName)], Value: value, Path: "/", MaxAge: maxAge, Secure: s.secure(), HttpOnly: true,
		SameSite: http.SameSiteLaxMode, // the identity provider's page leads here
	})
}
