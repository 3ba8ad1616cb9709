package authserver

import (
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"
)

// ServeAuthorize is the authorization endpoint (RFC 6749, section 4.1.1): the page to which a
// client sends the browser. It asks the person each time. A browser goes on to the client's address
// only after the person has pressed a button, for anybody can register as a client (RFC 9700,
// section 4.11).
func (p *Pages) ServeAuthorize(w http.ResponseWriter, r *http.Request) {
	query, do := r.URL.RawQuery, ""
	if r.Method == http.MethodPost {
		form, refused := p.sent(r)
		if refused != nil {
			p.show(w, *refused)
			return
		}
		query, do = form.Get("request"), form.Get("do")
	} else if to := r.Header.Get("Sec-Fetch-Dest"); to != "" && to != "document" {
		p.show(w, says(http.StatusForbidden, "Not allowed", "This page is not shown inside of another one."))
		return
	}
	var wanted wish
	q, err := parseForm(query)
	if err == nil && len(query) > maxForm {
		err = badRequest(invalidRequest, "the request is longer than 16 KiB")
	}
	if err == nil {
		wanted, err = wishOf(r.Context(), p.of, q, addresses{p.of.addressOf(r), p.of.state.now()})
	}
	switch {
	case err != nil:
		p.wrong(w, wanted, err)
	case do == "":
		p.show(w, page{Title: title, Confirm: p.consent(wanted, query)})
	case do == "refuse":
		to := wanted.back.with(p.of.config.Origin, "error", accessDenied)
		p.show(w, leads("Refused", to, "Nobody is signed in. You go back to the program."))
	case !slices.Contains(p.of.provider.Choices(), do):
		p.show(w, says(http.StatusBadRequest, "Not possible",
			"The gateway has no such identity provider any more. Begin again in the program."))
	default:
		p.begin(w, r, wanted, do)
	}
}

// wrong says what is wrong with a request, to the person and, if the client is known, to it.
func (p *Pages) wrong(w http.ResponseWriter, wanted wish, err error) {
	var refused *refusal
	if !errors.As(err, &refused) {
		refused = badRequest(invalidRequest, "it cannot be read")
	}
	status := http.StatusBadRequest
	if refused.retry > 0 {
		status = refused.status
		w.Header().Set("Retry-After", strconv.Itoa(int(refused.retry/time.Second)))
	}
	shown := says(status, "Not possible", "The program has sent you here with a request that is not right: "+refused.text+".")
	if wanted.back.Redirect != "" {
		to := wanted.back.with(p.of.config.Origin, "error", refused.code, "error_description", refused.text)
		shown.Back = template.URL(to) //nolint:gosec // it was checked
	}
	p.show(w, shown)
}

// leads is a page from which the browser goes on by itself.
func leads(title, to string, text ...string) page {
	return page{Title: title, Text: text, Go: template.URL(to)} //nolint:gosec // it is that of a provider, or of a client, and was checked
}

// consent is what the page shows of what a client asks for.
func (p *Pages) consent(wanted wish, query string) *confirm {
	c := &confirm{Client: "A program", Choices: p.of.provider.Choices(), Request: query, Says: wanted.client.name, Site: wanted.client.host}
	if _, configured := p.of.clients.configured[wanted.client.id]; configured {
		c.Client, c.Says = wanted.client.name, ""
	}
	if c.Server, _ = strings.CutPrefix(wanted.grant.Resource, MCPPath); c.Server == "" {
		c.Rights = strings.Join(wanted.grant.Scopes, ", ")
	}
	if u, err := url.Parse(wanted.back.Redirect); err == nil && u.Scheme == "https" {
		c.To = u.Host
	}
	return c
}

// begin sends the browser of a person who has agreed to an identity provider.
func (p *Pages) begin(w http.ResponseWriter, r *http.Request, wanted wish, identity string) {
	s, now, address := p.of, p.of.state.now(), p.of.addressOf(r)
	if !s.state.bounds.begun.count(address, now) {
		p.show(w, says(http.StatusTooManyRequests, "Too many sign-ins", "Too many sign-ins were begun from your address. Try again in ten minutes."))
		return
	}
	a := attempt{
		User: rawText(), Client: wanted.client.label(), Address: address.String(), Created: now, Ends: now.Add(codeLife), Step: waits,
		Grant: wanted.grant, Back: &wanted.back,
	}
	id := idOf(kindAttempt, a.User)
	err := s.state.change(r.Context(), id, func(*Record) (Record, error) { return a.record(id) })
	if err == nil {
		var to string
		if to, err = s.provider.Begin(w, r, identity, a.User); err == nil {
			p.show(w, leads("Sign in", to, "You go on to the sign-in of your organisation."))
			return
		}
	}
	s.logger.Warn("a sign-in cannot begin", zap.Error(err))
	shown := away
	shown.Back = template.URL(wanted.back.with(s.config.Origin, "error", unavailable)) //nolint:gosec // it was checked
	p.show(w, shown)
}

// label is what operators read of a client. A name that nobody has checked is in quotes.
func (c *client) label() string {
	switch {
	case c.host != "":
		return c.host
	case c.name == "":
		return "a program"
	case strings.HasPrefix(c.id, clientPrefix):
		return `"` + c.name + `"`
	}
	return c.name
}

// sent reads a form of a page of the server.
func (p *Pages) sent(r *http.Request) (url.Values, *page) {
	form, err := readForm(r)
	var refused page
	switch {
	case p.of.csrf.Check(r) != nil, r.Header.Get("Origin") == "" && r.Header.Get("Sec-Fetch-Site") == "":
		refused = says(http.StatusForbidden, "Not allowed",
			"Another site, or a program, has sent this request. Open the address that your program shows, and use the buttons there.")
	case err != nil:
		refused = says(http.StatusBadRequest, "Not possible",
			"The form did not arrive as this page has made it. Open the address again that your program shows.")
	default:
		return form, nil
	}
	return nil, &refused
}
