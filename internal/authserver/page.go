package authserver

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"html/template"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"time"

	"go.uber.org/zap"
)

// files are the template of all pages and their style.
//
//go:embed page.html style.css
var files embed.FS

var pageTemplate = template.Must(template.ParseFS(files, "page.html"))

// pagePolicy is what a page may load and do: nothing but its style, its empty icon, without which
// browsers ask for one, and its own form.
const pagePolicy = "default-src 'none'; img-src data:; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Pages are what people see of a server in the browser.
type Pages struct {
	of *Server
}

// NewPages returns those of a server.
func NewPages(s *Server) *Pages { return &Pages{s} }

// page is what a person reads.
type page struct {
	Title string
	// Text are paragraphs.
	Text []string
	// Ask lets the person type a code, Wrong says what is wrong with the one before.
	Ask   bool
	Wrong string
	// Confirm asks about a client that waits.
	Confirm *confirm
	// Go is where the browser goes by itself, Back where it does if the person wants.
	Go, Back template.URL

	status              int
	Style, Form, Answer string
}

// confirm is what a page shows of a client that waits.
type confirm struct {
	Code, Client, Address, Age string
	Choices                    []string // the identity providers

	// Request is the query of an authorization request, "" for a client with a code. Says is what
	// the client calls itself, Site where its metadata are, and To the site where the browser goes
	// back to.
	Request, Says, Site, To string
	// Server is that of the tools which it wants to use, or Rights are what it wants.
	Server, Rights string
}

// clientNames are those of clients that are known: what others call themselves is not shown, for it
// may be a text to deceive people with.
var clientNames = map[string]string{"claude_code": "Claude Code", "gatehouse": "caddy gatehouse login"}

// ServeStyle serves the style of the pages.
func (p *Pages) ServeStyle(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "public, max-age=3600")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	http.ServeFileFS(w, r, files, "style.css")
}

func (p *Pages) show(w http.ResponseWriter, shown page) {
	shown.Style, shown.Form, shown.Answer = StylePath, PagePath, AuthorizePath
	var body bytes.Buffer
	if err := pageTemplate.Execute(&body, shown); err != nil {
		p.of.logger.Error("a page of the sign-in failed", zap.Error(err))
		http.Error(w, "the gateway failed to make this page; its log has the cause", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	for name, value := range map[string]string{
		"Content-Security-Policy": pagePolicy, "X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
		"Cache-Control": "no-store", "Cross-Origin-Opener-Policy": "same-origin", "Content-Type": "text/html; charset=utf-8",
		"Content-Length": strconv.Itoa(body.Len()),
	} {
		h.Set(name, value)
	}
	if shown.status == 0 {
		shown.status = http.StatusOK
	}
	w.WriteHeader(shown.status)
	_, _ = w.Write(body.Bytes()) // the browser may have left
}

// ServePage is where a person types the code of a client, or confirms the one of the link.
func (p *Pages) ServePage(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		q := r.URL.Query()
		if to := r.Header.Get("Sec-Fetch-Dest"); to != "" && to != "document" {
			q = nil // an image in a page of another site: it must not use up the attempts of its readers
		}
		p.ask(w, r, q)
		return
	}
	form, refused := p.sent(r)
	switch {
	case refused != nil:
		p.show(w, *refused)
	case form.Get("do") == "":
		p.ask(w, r, form)
	default:
		p.decide(w, r, form)
	}
}

// ask shows the client that waits with a code, or asks for the code.
func (p *Pages) ask(w http.ResponseWriter, r *http.Request, q url.Values) {
	text := q.Get("user_code")
	if text == "" {
		p.show(w, page{Title: title, Ask: true})
		return
	}
	d, _, refused := p.waiting(r.Context(), p.of.addressOf(r), text)
	if refused != nil {
		p.show(w, *refused)
		return
	}
	c := &confirm{
		Code: d.User, Client: clientNames[d.Client], Address: d.Address, Age: ageOf(p.of.state.now().Sub(d.Created)), Choices: p.of.provider.Choices(),
	}
	if c.Client == "" {
		c.Client = "A program"
	}
	p.show(w, page{Title: title, Confirm: c})
}

func ageOf(d time.Duration) string {
	switch n := int(d / time.Minute); {
	case n < 1:
		return "less than a minute ago"
	case n == 1:
		return "a minute ago"
	default:
		return strconv.Itoa(n) + " minutes ago"
	}
}

// waiting returns the client that waits with a code. Refused is the page without one.
func (p *Pages) waiting(ctx context.Context, from netip.Addr, text string) (d attempt, id ID, refused *page) {
	now := p.of.state.now()
	if p.of.state.bounds.guesses.full(from, now) {
		full := says(http.StatusTooManyRequests, "Too many codes", "Too many codes that are not right came from your address. Try again in ten minutes.")
		return d, id, &full
	}
	code, ok := userCode(text)
	err := ErrGone
	if ok {
		id = idOf(kindAttempt, code)
		var row *Record
		if row, err = p.of.state.get(ctx, id); err == nil {
			d, err = attemptOf(row, now)
		}
	}
	switch {
	case err == nil && d.Step == waits && d.Back == nil:
		return d, id, nil
	case err == nil || errors.Is(err, ErrGone):
		p.of.state.bounds.guesses.count(from, now)
		again := page{status: http.StatusNotFound, Title: title, Ask: true}
		again.Wrong = "No program waits with this code. Codes are good for ten minutes, and once: begin the sign-in again in the program for another."
		return d, id, &again
	}
	p.of.logger.Error("a sign-in cannot go on", zap.Error(err))
	return d, id, &away
}

// title is that of the pages with a code.
const title = "Sign in to a program"

// says is a page with paragraphs.
func says(status int, title string, text ...string) page {
	return page{status: status, Title: title, Text: text}
}

var away = says(http.StatusServiceUnavailable, "Not available now",
	"The gateway, or the identity provider behind it, cannot answer now. Try again in a minute.")

// decide does what a person has said of a client.
func (p *Pages) decide(w http.ResponseWriter, r *http.Request, form url.Values) {
	d, id, refused := p.waiting(r.Context(), p.of.addressOf(r), form.Get("user_code"))
	if refused != nil {
		p.show(w, *refused)
		return
	}
	if form.Get("do") == "refuse" {
		err := p.of.state.step(r.Context(), id, func(a *attempt) error { a.Step = denied; return nil })
		if err != nil && !errors.Is(err, ErrGone) {
			p.show(w, away)
			return
		}
		p.show(w, says(http.StatusOK, "Refused",
			"The program was refused: nobody is signed in by this code. If you did not begin this sign-in, tell the operator of the gateway."))
		return
	}
	if !slices.Contains(p.of.provider.Choices(), form.Get("do")) {
		p.show(w, says(http.StatusBadRequest, "Not possible",
			"The gateway has no such identity provider any more. Open the address again that your program shows."))
		return
	}
	to, err := p.of.provider.Begin(w, r, form.Get("do"), d.User)
	if err != nil {
		p.of.logger.Warn("a sign-in cannot begin", zap.Error(err))
		p.show(w, away)
		return
	}
	p.show(w, leads("Sign in", to, "You go on to the sign-in of your organisation."))
}

// Finish notes who has signed in for the client with a code, and says so: to the person, or to the
// client to which the browser goes back. Upstream is the refresh token of the identity provider, ""
// for none.
func (p *Pages) Finish(w http.ResponseWriter, r *http.Request, code string, who Person, upstream string) {
	if p.of.state.Blocked(who.ID) {
		p.Refuse(w, r, code, ErrRefused, "The operator of the gateway keeps you out. Ask the operator.")
		return
	}
	id, token := idOf(kindAttempt, code), ""
	a, err := p.decided(r, id, func(a *attempt) {
		if len(a.Grant.Scopes) > 0 && len(p.of.given(a.Grant, who.Role)) == 0 {
			a.Step = denied
			return
		}
		a.Step, a.Person, a.Upstream = approved, who, p.of.keys.seal(id, upstream)
		if a.Back != nil {
			token, a.Code = p.of.keys.newToken(codePrefix, id)
			a.Ends = p.of.state.now().Add(answerLife)
		}
	})
	switch {
	case errors.Is(err, ErrGone):
		p.show(w, says(http.StatusGone, "Too late",
			"The program does not wait for this sign-in any more: codes are good for ten minutes, and once. Begin again in the program."))
	case err != nil:
		p.of.logger.Error("a sign-in cannot go on", zap.Error(err))
		p.show(w, away)
	case a.Step == denied:
		p.refused(w, a.Back, accessDenied, "You have signed in, and your role has none of the rights that the program asks for. Ask its operator.")
	case a.Back != nil:
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Location", a.Back.with(p.of.config.Origin, "code", token))
		w.WriteHeader(http.StatusSeeOther)
	default:
		p.show(w, says(http.StatusOK, "You are signed in", "Signed in as "+who.Name+".",
			"Go back to the program: it goes on by itself. You can close this page."))
	}
}

// decided changes an attempt that waits, once.
func (p *Pages) decided(r *http.Request, id ID, edit func(*attempt)) (after attempt, err error) {
	err = p.of.state.step(r.Context(), id, func(a *attempt) error {
		if a.Step != waits {
			return ErrGone
		}
		edit(a)
		after = *a
		return nil
	})
	return after, err
}

// Refuse shows why the sign-in with a code failed, and denies it to the client that waits.
func (p *Pages) Refuse(w http.ResponseWriter, r *http.Request, code string, cause error, text string) {
	a, err := p.decided(r, idOf(kindAttempt, code), func(a *attempt) { a.Step = denied })
	if err != nil && !errors.Is(err, ErrGone) {
		p.of.logger.Error("a client is not told of a refusal", zap.Error(err))
	}
	p.refused(w, a.Back, map[bool]string{false: accessDenied, true: unavailable}[errors.Is(cause, ErrUnavailable)], text)
}

// refused says so to the person and, if the browser can go back, to the client.
func (p *Pages) refused(w http.ResponseWriter, to *back, code, text string) {
	shown := says(http.StatusForbidden, "Not signed in", text)
	if to != nil {
		shown.Back = template.URL(to.with(p.of.config.Origin, "error", code)) //nolint:gosec // it was checked
	}
	p.show(w, shown)
}
