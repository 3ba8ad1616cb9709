package authserver

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"go.uber.org/zap"
)

// device is a client that waits for a person, who types its code at a page (RFC 8628).
type device struct {
	Code     Sum       `json:"code"`      // the SHA-256 of the device code
	User     string    `json:"user_code"` // XXXX-XXXX
	Client   string    `json:"client"`
	Address  string    `json:"address"`
	Created  time.Time `json:"created"`
	Step     step      `json:"step"`
	Person   Person    `json:"person"`             // once it is approved
	Upstream []byte    `json:"upstream,omitempty"` // the refresh token of the identity provider, encrypted
}

// step is how far a device is.
type step string

const (
	waits    step = "waits"
	approved step = "approved"
	denied   step = "denied"
	used     step = "used"
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

func deviceOf(r *Record, now time.Time) (d device, err error) {
	if r == nil || r.Kind != kindDevice || !now.Before(r.Ends) {
		return d, ErrGone
	}
	return d, json.Unmarshal(r.Body, &d)
}

func (d device) record(id ID) (Record, error) {
	body, err := json.Marshal(d)
	return Record{ID: id, Kind: kindDevice, Ends: d.Created.Add(codeLife), Body: body}, err
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
	d := device{Client: clean(form.Get("surface"), maxClient), Address: address.String(), Created: s.state.now(), Step: waits}
	var token string
	for range maxCodes {
		d.User = newUserCode()
		id := idOf(kindDevice, d.User)
		token, d.Code = s.keys.newToken(devicePrefix, id)
		err = s.state.change(r.Context(), id, func(before *Record) (Record, error) {
			if _, err := deviceOf(before, s.state.now()); err == nil {
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
func (s *Server) exchangeDevice(r *http.Request, form url.Values) (*issued, error) {
	id, sum, ok := s.keys.parse(devicePrefix, form.Get("device_code"))
	if !ok {
		return nil, badRequest(invalidGrant, "the device_code is not one of this gateway")
	}
	if s.state.bounds.early(id, s.state.now()) {
		return nil, badRequest(slowDown, "wait five seconds more between two requests")
	}
	row, err := s.state.get(r.Context(), id)
	var d device
	if err == nil {
		d, err = deviceOf(row, s.state.now())
	}
	switch {
	case errors.Is(err, ErrGone), err == nil && (d.Code != sum || d.Step == used):
		return nil, badRequest(expiredToken, "the code has ended; sign in again")
	case err != nil:
		return nil, err
	case d.Step == waits:
		return nil, badRequest(pending, "the person has not signed in yet")
	case d.Step == denied:
		s.state.bounds.forget(id)
		return nil, badRequest(accessDenied, "the sign-in was refused at the page")
	}
	upstream, err := s.keys.unseal(id, d.Upstream)
	if err != nil && d.Upstream != nil {
		return nil, badRequest(expiredToken, "the key of the gateway has changed meanwhile; sign in again")
	}
	err = s.state.stepDevice(r.Context(), id, func(now *device) error {
		if now.Step != approved || now.Code != sum {
			return ErrGone
		}
		now.Step, now.Upstream = used, nil
		return nil
	})
	if errors.Is(err, ErrGone) {
		return nil, badRequest(expiredToken, "the code has ended; sign in again")
	}
	if err != nil {
		return nil, err
	}
	s.state.bounds.forget(id)
	return s.begin(r.Context(), SignIn{Person: d.Person, Client: d.Client, Address: d.Address, Created: d.Created}, upstream)
}

// begin makes a sign-in and its first tokens. Created is when the client has asked for it.
func (s *Server) begin(ctx context.Context, in SignIn, upstream string) (*issued, error) {
	if s.state.Blocked(in.Person.ID) {
		return nil, badRequest(accessDenied, "the gateway's operator keeps this person out")
	}
	if s.state.Over(in.Person.ID, in.Created) {
		return nil, badRequest(accessDenied, "the gateway's operator has ended this sign-in; sign in again")
	}
	makeRoom(ctx, s.state, in.Person.Hash)
	now := s.state.now()
	in.ID, in.Created, in.Refreshed = newID(), now, now
	in.Upstream = s.keys.seal(in.ID, upstream)
	in.Ends = now.Add(s.config.RefreshLife)
	if upstream == "" { // nobody could be asked whether the person may still come
		in.Ends = now.Add(s.config.TokenLife)
	}
	out := s.issue(&in, now)
	if upstream != "" {
		var sum Sum
		out.Refresh, sum = s.keys.newToken(refreshPrefix, in.ID)
		in.Refresh = []Sum{sum}
	}
	in.Access = []accessToken{out.access}
	err := s.state.change(ctx, in.ID, func(*Record) (Record, error) { return in.record(now) })
	if err != nil {
		return nil, err
	}
	s.logger.Info("somebody has signed in", zap.String("key", in.Person.ID), zap.String("role", in.Person.Role), zap.String("client", in.Client))
	return out, nil
}
