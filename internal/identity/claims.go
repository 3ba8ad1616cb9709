package identity

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// claims are those of a token whose signature is good.
type claims map[string]any

func parseClaims(payload []byte) (c claims, err error) {
	d := json.NewDecoder(bytes.NewReader(payload))
	d.UseNumber() // ids are compared as they were written
	if err = d.Decode(&c); err == nil && d.More() {
		err = fmt.Errorf("there is something after the claims")
	}
	return c, err
}

// find returns a claim by its name or its JSON pointer, nil for none.
func (c claims) find(name string) any {
	path, isPointer := strings.CutPrefix(name, "/")
	if !isPointer {
		return c[name]
	}
	var at any = map[string]any(c)
	for part := range strings.SplitSeq(path, "/") {
		object, _ := at.(map[string]any)
		at = object[strings.NewReplacer("~1", "/", "~0", "~").Replace(part)]
	}
	return at
}

// texts returns a claim as texts: one, or those of a list. Objects are none.
func texts(claim any) (all []string) {
	switch claim := claim.(type) {
	case string:
		return []string{claim}
	case json.Number:
		return []string{claim.String()}
	case bool:
		return []string{strconv.FormatBool(claim)}
	case []any:
		for _, element := range claim {
			if _, nested := element.([]any); !nested {
				all = append(all, texts(element)...)
			}
		}
	}
	return all
}

// text returns a claim that is one text, else "".
func (c claims) text(name string) string {
	s, _ := c.find(name).(string)
	return s
}

// moment returns a NumericDate of RFC 7519, section 2. Ok is false for none.
func (c claims) moment(name string) (t time.Time, ok bool) {
	n, _ := c[name].(json.Number)
	seconds, err := n.Float64()
	const most = 1 << 40 // the year 36812
	if n == "" || err != nil || seconds < 0 || seconds > most {
		return t, false
	}
	return time.Unix(int64(seconds), 0), true
}

// check returns why claims of a good signature are not valid now, and when they end.
func (c claims) check(i *Issuer, now time.Time) (ends time.Time, err error) {
	ends, ok := c.moment("exp")
	if !ok {
		return ends, invalid("it has no exp: it would be good for ever")
	}
	audiences := texts(c["aud"])
	begins, notBefore := c.moment("nbf")
	issued, dated := c.moment("iat")
	if !dated {
		issued = now
	}
	switch life := cmp.Or(i.MaxLife, DefaultMaxLife); {
	case c["iss"] != i.URL:
		return ends, invalid("its iss is another one")
	case !slices.ContainsFunc(audiences, func(aud string) bool { return slices.Contains(i.Audiences, aud) }):
		return ends, invalid("its aud %q is none of %q", audiences, i.Audiences)
	case !now.Before(ends.Add(leeway)):
		return ends, invalid("it has ended at %s", ends.UTC().Format(time.RFC3339))
	case c["nbf"] != nil && !notBefore, c["iat"] != nil && !dated:
		return ends, invalid("its nbf or iat is no date")
	case c["cnf"] != nil: // RFC 7800: of DPoP or mTLS
		return ends, invalid("it is good only together with a key of its holder, which nobody has asked for")
	case notBefore && now.Before(begins.Add(-leeway)), now.Before(issued.Add(-leeway)):
		return ends, invalid("it begins later: do the clocks differ?")
	case ends.Sub(issued) > life || ends.Sub(now) > life+leeway:
		return ends, invalid("it is good for longer than max_life, %v", life)
	}
	return ends, nil
}

// person returns whom the claims are of. Name and role are not set yet.
func (c claims) person(i *Issuer) (p Person, err error) {
	subject := c.text("sub")
	if isEntra(i.URL) { // where sub is another one for each application
		tenant, object := c.text("tid"), c.text("oid")
		if subject = tenant + "/" + object; tenant == "" || object == "" {
			return p, invalid("it has no tid and oid")
		}
	}
	if subject == "" || len(subject) > maxSubject {
		return p, invalid("its sub is missing or too long")
	}
	p.ID, p.Name = idOf(i.Name, i.URL, subject), subject
	p.Hash = HashOf(p.ID)
	names := []string{i.User}
	if i.User == "" {
		names = []string{"preferred_username", "name"}
		if c["email_verified"] == true {
			names = append([]string{emailClaim}, names...)
		}
	}
	for _, name := range slices.Backward(names) {
		p.Name = cmp.Or(c.text(name), p.Name)
	}
	p.Name = shown(p.Name)
	return p, nil
}

// holder returns whom the claims are of, with the role.
func (c claims) holder(by *keySet, ends time.Time) (p Person, err error) {
	if p, err = c.person(by.issuer); err != nil {
		return p, err
	}
	p.Ends, p.By = ends, by.digest
	p.Role, err = c.role(by.issuer)
	return p, err
}

// shown bounds a text of a token that people see, and takes out what is not printed.
func shown(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(text, ""))
	if len(text) > maxShown {
		text = strings.ToValidUTF8(text[:maxShown], "")
	}
	return text
}

// role returns the first role whose rule fits.
func (c claims) role(i *Issuer) (string, error) {
	for _, rule := range i.Rules {
		if !slices.ContainsFunc(rule.Conditions, func(condition Condition) bool { return !c.holds(&condition) }) {
			return rule.Role, nil
		}
	}
	return "", &NoRoleError{Issuer: i.Name, Seen: c.seen(i)}
}

func (c claims) holds(condition *Condition) bool {
	if isEmail(condition.Claim) && c["email_verified"] != true {
		return false
	}
	return slices.ContainsFunc(texts(c.find(condition.Claim)), condition.fits)
}

// seen lists the claims that rules ask for.
func (c claims) seen(i *Issuer) string {
	var all []string
	for _, rule := range i.Rules {
		for _, condition := range rule.Conditions {
			if text := fmt.Sprintf("%s %s", condition.Claim, shown(strings.Join(texts(c.find(condition.Claim)), ", "))); !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
	}
	return strings.Join(all, "; ")
}
