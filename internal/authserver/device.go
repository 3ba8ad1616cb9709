package authserver

import (
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// letters of a user code make no words and are told apart when they are read aloud (RFC 8628,
// section 6.1).
const letters = "BCDFGHJKLMNPQRSTVWXZ"

// codeLetters is the length of a user code without its hyphen.
const codeLetters = 8

func newUserCode() string {
	var b strings.Builder
	var random [1]byte
	for b.Len() < codeLetters+1 {
		if b.Len() == codeLetters/2 {
			b.WriteByte('-')
		}
		_, _ = rand.Read(random[:])                                 // never fails (crypto/rand)
		if n := int(random[0]); n < 256/len(letters)*len(letters) { // each letter is as likely
			b.WriteByte(letters[n%len(letters)])
		}
	}
	return b.String()
}

// userCode returns what somebody has typed in the form of a code. Ok is false if it is none.
func userCode(text string) (code string, ok bool) {
	if len(text) > maxClient {
		return "", false
	}
	text = strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' {
			return -1
		}
		return r
	}, strings.ToUpper(text))
	if len(text) != codeLetters || strings.Trim(text, letters) != "" {
		return "", false
	}
	return text[:codeLetters/2] + "-" + text[codeLetters/2:], true
}

// maxCodes is how often another code is tried if one is taken.
const maxCodes = 5

// ServeDevice begins a sign-in of a client: the device authorization request.
func (s *Server) ServeDevice(w http.ResponseWriter, r *http.Request) {
	form, err := s.clientForm(r)
	address := s.addressOf(r)
	if err == nil && !s.state.bounds.begun.count(address, s.state.now()) {
		err = &refusal{http.StatusTooManyRequests, slowDown, "too many sign-ins were begun from this address; try again in ten minutes", boundsWindow}
	}
	if err != nil {
		s.write(w, err)
		return
	}
	now := s.state.now()
	d := attempt{Client: clean(form.Get("surface"), maxClient), Address: address.String(), Created: now, Ends: now.Add(codeLife), Step: waits}
	var token string
	for range maxCodes {
		d.User = newUserCode()
		id := idOf(kindAttempt, d.User)
		token, d.Code = s.keys.newToken(devicePrefix, id)
		err = s.state.change(r.Context(), id, func(before *Record) (Record, error) {
			if _, err := attemptOf(before, s.state.now()); err == nil {
				return Record{}, errTaken
			}
			return d.record(id)
		})
		if !errors.Is(err, errTaken) {
			break
		}
	}
	if err != nil {
		s.write(w, err)
		return
	}
	page := s.config.Origin + PagePath
	writeJSON(w, http.StatusOK, struct {
		Device   string `json:"device_code"`
		User     string `json:"user_code"`
		URI      string `json:"verification_uri"`
		Complete string `json:"verification_uri_complete"`
		Expires  int    `json:"expires_in"`
		Interval int    `json:"interval"`
	}{token, d.User, page, page + "?" + url.Values{"user_code": {d.User}}.Encode(), int(codeLife / time.Second), int(interval / time.Second)})
}

var errTaken = errors.New("the code is taken")

// exchangeDevice answers a client that asks whether its person has signed in.
func exchangeDevice(s *Server, r *http.Request, form url.Values) (*issued, error) {
	id, sum, ok := s.keys.parse(devicePrefix, form.Get("device_code"))
	if !ok {
		return nil, badRequest(invalidGrant, "the device_code is not one of this gateway")
	}
	if s.state.bounds.early(id, s.state.now()) {
		return nil, badRequest(slowDown, "wait five seconds more between two requests")
	}
	row, err := s.state.get(r.Context(), id)
	var a attempt
	if err == nil {
		a, err = attemptOf(row, s.state.now())
	}
	switch {
	case err != nil || a.Code != sum:
	case a.Step == waits:
		return nil, badRequest(pending, "the person has not signed in yet")
	case a.Step == denied:
		s.state.bounds.forget(id)
		return nil, badRequest(accessDenied, "the sign-in was refused at the page")
	}
	var upstream string
	if err == nil {
		a, upstream, err = redeem(r.Context(), s, id, sum, func(*attempt) error { return nil })
	}
	if errors.Is(err, ErrGone) || errors.Is(err, errUsed) {
		return nil, badRequest(expiredToken, "the code has ended; sign in again")
	}
	if err != nil {
		return nil, err
	}
	s.state.bounds.forget(id)
	return begin(r.Context(), s, SignIn{ID: newID(), Person: a.Person, Client: a.Client, Address: a.Address, Created: a.Created}, upstream)
}
