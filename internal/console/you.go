package console

import (
	"net/url"
	"time"
)

// youPage is what its template shows: who is signed in.
type youPage struct {
	User, ID   string // ID: the key of the rows
	Role, Key  string // one of them
	Tenant     string
	Scopes     []string
	AllTenants bool

	Since, Last time.Time // of the session: when it began, and when it ends at the latest
	Idle        string
	Asked       time.Time // until then the identity provider is asked again; zero: there is none

	Limits []limitRow
}

// showYou shows who is signed in: what the key or role allows, its limits, and the session.
func showYou(v *visit) error {
	c, life := &v.caller, v.console.config.Life
	p := youPage{
		User: c.User, ID: c.Name, Key: c.Name, Tenant: c.Tenant, Scopes: c.Scopes.Names(), AllTenants: c.AllTenants,
		Since: v.since, Last: v.since.Add(life.Max), Idle: inWords(life.Idle),
	}
	if role := c.Configured(); role != c.Name {
		p.Role, p.Key, p.Asked = role, "", c.Expires
	}
	var answer struct{ Data []limitRow }
	if err := v.get("/api/v1/limits", url.Values{"limit": {"200"}, "subject": {"key:" + c.Name}}, &answer); err != nil {
		return err
	}
	if p.Limits = answer.Data; p.Role != "" {
		for i := range p.Limits {
			p.Limits[i].Label = c.User
		}
	}
	return v.render("you", &p)
}
