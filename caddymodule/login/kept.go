package login

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"time"

	"github.com/caddyserver/certmagic"
)

const (
	// leastLife is what is left of a token that is printed without a refresh.
	leastLife = time.Minute
	// maxTokenLife bounds how long a token is believed to be good: no gateway gives out longer
	// ones.
	maxTokenLife = 24 * time.Hour
	// lockTimeout bounds the wait for another process: it sends two requests.
	lockTimeout = 2*requestTimeout + 10*time.Second
)

// program is what the commands work with.
type program struct {
	http *http.Client
	// files has a file of mode 0600 for each origin, and the locks. It writes whole files only.
	files *certmagic.FileStorage
	// tell gets what a person reads.
	tell io.Writer
	// person reports whether somebody is at a terminal.
	person bool
}

// kept is a file: a sign-in at a gateway.
type kept struct {
	Access  string    `json:"access_token"`
	Ends    time.Time `json:"ends"` // of the access token
	Refresh string    `json:"refresh_token,omitempty"`
}

// fileOf returns the name of the file of an origin.
func fileOf(origin string) string { return url.QueryEscape(origin) + ".json" }

// load returns the sign-in at a gateway, or an empty one. A file that cannot be understood is none.
func (p *program) load(ctx context.Context, origin string) (k kept, err error) {
	text, err := p.files.Load(ctx, fileOf(origin))
	if errors.Is(err, fs.ErrNotExist) {
		return kept{}, nil
	}
	if err != nil {
		return kept{}, fmt.Errorf("the sign-in cannot be read: %w", err)
	}
	if json.Unmarshal(text, &k) == nil && isText(k.Access) {
		return k, nil
	}
	return kept{}, nil
}

// keep writes the tokens of an answer. Its way took less than leastLife.
func (p *program) keep(ctx context.Context, origin string, t *tokens) error {
	text, err := json.Marshal(kept{Access: t.Access, Ends: time.Now().Add(seconds(t.Expires, maxTokenLife)), Refresh: t.Refresh})
	if err == nil {
		err = p.files.Store(ctx, fileOf(origin), text)
	}
	if err != nil {
		return fmt.Errorf("the sign-in cannot be kept: %w", err)
	}
	return nil
}

// token returns an access token that is good for a minute, or longer. It asks a person if it must.
func (p *program) token(ctx context.Context, origin string) (string, error) {
	k, err := p.load(ctx, origin)
	if err != nil {
		return "", err
	}
	if time.Until(k.Ends) > leastLife {
		return k.Access, nil
	}
	if k.Refresh != "" {
		if access, err := p.renew(ctx, origin); access != "" || err != nil {
			return access, err
		}
	}
	if !p.person {
		return "", fmt.Errorf("nobody is signed in at %s: run this in a terminal: caddy gatehouse login %s", origin, origin)
	}
	return p.signIn(ctx, origin)
}

// renew refreshes, or takes what another process has refreshed meanwhile. It returns "" if the
// gateway wants its person to sign in again.
func (p *program) renew(ctx context.Context, origin string) (access string, err error) {
	unlock, err := p.lock(ctx, origin)
	if err != nil {
		return "", err
	}
	defer unlock()
	k, err := p.load(ctx, origin)
	switch {
	case err != nil:
		return "", err
	case time.Until(k.Ends) > leastLife:
		return k.Access, nil
	case k.Refresh == "": // signed out
		return "", nil
	}
	s, err := discover(ctx, p.http, origin)
	var t *tokens
	if err == nil {
		t, err = s.renew(ctx, k.Refresh)
	}
	if r, ok := errors.AsType[*refusal](err); ok && r.Code == invalidGrant {
		return "", p.files.Delete(ctx, fileOf(origin))
	}
	if err != nil {
		if time.Now().Before(k.Ends) { // the gateway may be back soon
			return k.Access, nil
		}
		return "", fmt.Errorf("the token cannot be refreshed: %w", err)
	}
	if t.Refresh == "" { // the one that was sent goes on (RFC 6749, section 6)
		t.Refresh = k.Refresh
	}
	return t.Access, p.keep(ctx, origin, t)
}

// signIn asks a person. No lock is held: programs that want a token meanwhile fail at once.
func (p *program) signIn(ctx context.Context, origin string) (string, error) {
	s, err := discover(ctx, p.http, origin)
	if err != nil {
		return "", err
	}
	d, err := s.begin(ctx)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(p.tell, "Open this address in a browser, and compare the code there:\n\n  %s\n  code: %s\n\nIt is good for %d minutes.\n",
		d.Complete, d.User, int(d.life().Minutes()))
	t, err := s.wait(ctx, d)
	if err != nil {
		return "", err
	}
	if err := p.keep(ctx, origin, t); err != nil {
		return "", err
	}
	as := ""
	if isText(t.Email) {
		as = " as " + t.Email
	}
	fmt.Fprintf(p.tell, "Signed in at %s%s.\n", origin, as)
	return t.Access, nil
}

// signOut revokes the tokens of a gateway and removes them, also if the gateway does not answer.
func (p *program) signOut(ctx context.Context, origin string) error {
	unlock, err := p.lock(ctx, origin)
	if err != nil {
		return err
	}
	defer unlock()
	k, err := p.load(ctx, origin)
	if err != nil {
		return err
	}
	if err := p.files.Delete(ctx, fileOf(origin)); err != nil {
		return fmt.Errorf("the sign-in cannot be removed: %w", err)
	}
	if k.Access == "" {
		fmt.Fprintf(p.tell, "Nobody was signed in at %s.\n", origin)
		return nil
	}
	token := k.Refresh
	if token == "" {
		token = k.Access
	}
	s, err := discover(ctx, p.http, origin)
	if err == nil {
		err = s.revoke(ctx, token)
	}
	if err != nil {
		return fmt.Errorf("the tokens are removed from this machine, but not revoked; an operator can end them by caddy gatehouse sign-ins end: %w", err)
	}
	fmt.Fprintf(p.tell, "Signed out at %s.\n", origin)
	return nil
}

// lock lets one process at a time change the file of an origin. The lock of a process that has
// crashed ends after seconds.
func (p *program) lock(ctx context.Context, origin string) (unlock func(), err error) {
	wait, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	if err := p.files.Lock(wait, fileOf(origin)); err != nil {
		return nil, fmt.Errorf("another process works on the sign-in, or its lock cannot be made: %w", err)
	}
	return func() { _ = p.files.Unlock(ctx, fileOf(origin)) }, nil // it ends by itself
}
