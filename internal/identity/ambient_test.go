package identity

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// ambient are identities of the placeholders "user" and "groups", and of "other".
func ambient(t *testing.T, at *time.Time, edit func(*Issuer)) *Issuers {
	t.Helper()
	first := Issuer{Name: "sso", Ambient: &Ambient{User: "user", Groups: "groups"}, Rules: []Rule{
		{"operator", []Condition{{"groups", []string{"ops", "OU=ops"}}}}, {"developer", []Condition{{"user", []string{"*@example.com"}}}},
	}}
	edit(&first)
	second := Issuer{Name: "vpn", Ambient: &Ambient{User: "other"}, Rules: []Rule{{Role: "guest"}}}
	s, err := New([]Issuer{first, second}, Deps{Client: http.DefaultClient, Now: func() time.Time { return *at }})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWhomPlaceholdersName(t *testing.T) {
	at := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	s := ambient(t, &at, func(*Issuer) {})
	certificate := ambient(t, &at, func(i *Issuer) { i.Ambient.OfCertificate = true })
	for said, want := range map[string]string{
		"user=ann&groups=CN=ann%2BOU=ops,O=acme":                 "no role",
		"of=certificate&user=ann&groups=CN=ann%2BOU=ops,O=acme":  "sso ann operator",
		"of=certificate&user=ann&groups=OU=ops%2BCN=ann,O=acme":  "sso ann operator",
		`of=certificate&user=ann&groups=CN=ann\%2BOU=ops,O=acme`: "no role",
		`of=certificate&user=ann&groups=CN=ann\,OU=ops%2BO=acme`: "no role",
		"user=ann@example.com":                                   "sso ann@example.com developer",
		"user= ann@example.com ":                                 "sso ann@example.com developer",
		"user=ann&groups=all, ops":                               "sso ann operator",
		"user=ann&groups=all&groups=ops":                         "sso ann operator",
		"user=ann&groups=CN=ann,OU=ops":                          "sso ann operator",
		`user=ann&groups=CN=ann\,OU=ops`:                         "no role",
		`user=ann&groups=ops\`:                                   "no role",
		"user=ann&groups=OPS":                                    "no role",
		"user=eve":                                               "no role",
		"user=eve&other=eve":                                     "no role", // one identity counts: the first that names somebody
		"other=eve":                                              "vpn eve guest",
		"user=&other=eve":                                        "vpn eve guest",
		"user= &groups=ops":                                      "nobody",
		"user=ann@example.com&user=bob@example.com":              "nobody",
		"groups=ops":                                             "nobody",
		"user=" + strings.Repeat("a", 600) + "@x.org":            "nobody",
	} {
		values := map[string][]string{}
		for pair := range strings.SplitSeq(said, "&") {
			name, value, _ := strings.Cut(pair, "=")
			values[name] = append(values[name], strings.ReplaceAll(value, "%2B", "+"))
		}
		of := s
		if values["of"] != nil {
			of = certificate
		}
		p, err := of.Named(func(placeholder string) []string { return values[placeholder] })
		got := "nobody"
		if _, none := err.(*NoRoleError); none {
			got = "no role"
		} else if err == nil {
			name, _, _ := strings.Cut(p.ID, "-")
			got = fmt.Sprintf("%s %s %s", name, p.Name, p.Role)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", said, got, want)
		}
	}
}

// A person is the name of the identity and the user, and stays the same value for a minute: what
// is kept of people is not made anew at each request.
func TestAPersonOfAPlaceholder(t *testing.T) {
	at := time.Date(2026, 5, 4, 12, 0, 7, 0, time.UTC)
	named := func(s *Issuers, user string) Person {
		p, _ := s.Named(func(placeholder string) []string {
			return map[string][]string{"user": {user}}[placeholder]
		})
		return p
	}
	s := ambient(t, &at, func(*Issuer) {})
	ann := named(s, "ann@example.com")
	if left := ann.Ends.Sub(at); left < 12*time.Hour || left > 12*time.Hour+time.Minute || !s.IsID(ann.ID) || !s.Still(ann) {
		t.Errorf("%+v", ann)
	}
	at = at.Add(50 * time.Second)
	if again := named(s, "ann@example.com"); again != ann {
		t.Errorf("%+v, then %+v", ann, again)
	}
	if bob := named(s, "bob@example.com"); bob.ID == ann.ID {
		t.Error("two people are one")
	}
	other := ambient(t, &at, func(i *Issuer) { i.Name, i.MaxLife = "other", 10*time.Minute })
	if p := named(other, "ann@example.com"); p.ID[len("other"):] == "" || p.Ends.After(at.Add(11*time.Minute)) || other.Still(ann) || strings.HasPrefix(p.ID, "sso") {
		t.Errorf("%+v", p)
	}
	// No token is of such an identity.
	if _, err := s.Person("eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIifQ.AAAA"); err == nil || s.Knows("eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIifQ.AAAA") {
		t.Error("a token without an issuer")
	}
}
