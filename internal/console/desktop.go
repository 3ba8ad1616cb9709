package console

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// connects are the scopes of those who may see a desktop.
var connects = []keys.Scope{keys.WorkstationsConnect}

// socketPath is where desktops connect, below Prefix.
const socketPath = "/socket"

const (
	// maxOrder bounds the body with what a desktop page wishes for, in bytes.
	maxOrder = 4 << 10
	// connectWithin is how long a page may take to connect with its token, in seconds.
	connectWithin = 30
)

// desktopPage is what the page of a desktop shows.
type desktopPage struct {
	Name              string
	Released          bool
	Path, AddressPath string // where the page asks for a token, and where a form asks for an address
	Control           string // where it asks who is there, and takes keyboard and pointer or gives them back
	Socket            string // where it connects
	// Address is for a viewer of the user's own, and Expires the end of the time to connect. They are
	// set in the answer to the form only.
	Address string
	Expires time.Time
}

// showDesktop shows the page that connects to a workstation.
func showDesktop(v *visit) error {
	page, err := desktopPageOf(v)
	if err != nil {
		return err
	}
	v.w.Header().Set("Content-Security-Policy", desktopPolicy)
	return v.render("desktop", page)
}

// showAddress shows a new address for a viewer of the user's own.
func showAddress(v *visit) error {
	page, err := desktopPageOf(v)
	if err != nil {
		return err
	}
	issued, err := issueAddress(v, nil)
	if err != nil {
		return err
	}
	page.Address, page.Expires = issued.URL, issued.Expires
	return v.render("address", page)
}

func desktopPageOf(v *visit) (desktopPage, error) {
	name := v.r.PathValue("id")
	var station struct {
		State string `json:"state"`
	}
	err := v.get("/v1/workstations/"+url.PathEscape(name), nil, &station)
	v.page = &page{title: v.page.title + " " + name, menu: "Workstations"}
	base := Prefix + "/workstations/" + url.PathEscape(name)
	return desktopPage{
		Name: name, Released: station.State == "released",
		Path: base + "/desktop", AddressPath: base + "/address", Control: base + "/control", Socket: Prefix + socketPath,
	}, err
}

// desktopSocket serves the socket of a desktop's page, which ends with the session of the console.
func desktopSocket(v *visit) error {
	config := &v.console.config
	sessions, id, life := config.Gateway.Sessions(), v.session, config.Life // not the visit: a desktop outlives it
	ctx := v.r.Context()
	config.Desktop(v.w, v.r, v.caller, func(used func() time.Time, f func()) (stop func()) {
		forget, stopAsking := sessions.OnEnd(id, life, used, f), keepSignedIn(ctx, config, id)
		return func() {
			forget()
			stopAsking()
		}
	})
	return nil
}

// order is what the page of a desktop wishes for.
type order struct {
	Shared   bool   `json:"shared"`    // others may join
	Join     bool   `json:"join"`      // beside those who are there, without input
	TakeOver bool   `json:"take_over"` // in place of those who are there
	Previous string `json:"previous"`  // the token of the page's last connection, or ""
}

// orderDesktop answers the page of a desktop with a token for one connection. If somebody has the
// desktop, it answers 409 and says who, unless the page has asked to join or to take over.
func orderDesktop(v *visit) error {
	var o order
	body, err := io.ReadAll(io.LimitReader(v.r.Body, maxOrder))
	if err == nil {
		err = json.Unmarshal(body, &o)
	}
	if err != nil {
		return answerRefusal(v, notAnOrder())
	}
	if err := endPrevious(v, o.Previous); err != nil {
		return answerRefusal(v, err)
	}
	wishes := map[string]any{"once": true, "expires_in": connectWithin, "shared": o.Shared || o.Join, "take_over": o.TakeOver}
	if o.Join {
		wishes["view_only"] = true
	}
	issued, err := issueAddress(v, wishes)
	if err != nil {
		return answerRefusal(v, err)
	}
	token, _, _ := strings.Cut(issued.URL, ".")
	return answerJSON(v, http.StatusOK, struct {
		Token    string `json:"token"`
		Name     string `json:"name"` // of the token in lists
		ViewOnly bool   `json:"view_only"`
	}{token, tokenName(token), issued.Session.ViewOnly})
}

func notAnOrder() *Failure {
	return &Failure{Status: http.StatusBadRequest, Code: "invalid_json", Message: "the body is not what the page sends"}
}

// endPrevious ends the session of the page's last connection: a page that connects again after its
// network was lost may come before anybody has noticed that.
func endPrevious(v *visit, token string) error {
	if token == "" {
		return nil
	}
	name := v.r.PathValue("id")
	var open struct {
		Data []struct {
			ID    string `json:"session_id"`
			Token string `json:"token"` // its name
		} `json:"data"`
	}
	if err := v.get("/v1/sessions", url.Values{"workstation": {name}, "key": {v.caller.Name}}, &open); err != nil {
		return err
	}
	for _, s := range open.Data {
		if s.Token != tokenName(token) {
			continue
		}
		err := v.send(http.MethodDelete, "/v1/sessions/"+url.PathEscape(s.ID), nil, nil)
		var failure *Failure
		if errors.As(err, &failure) && failure.Status == http.StatusNotFound {
			return nil // it has ended by itself
		}
		return err
	}
	return nil
}

// tokenName is how lists of sessions name a token: the first six bytes of its hash.
func tokenName(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:6])
}

// issued is a new address.
type issued struct {
	Workstation string `json:"workstation_id"`

	URL     string    `json:"vnc_url"`
	Expires time.Time `json:"expires_at"`
	Session struct {
		ViewOnly bool `json:"view_only"`
	} `json:"session"`
}

func issueAddress(v *visit, wishes map[string]any) (i issued, err error) {
	var body any
	if wishes != nil {
		body = wishes
	}
	return i, v.send(http.MethodPost, "/v1/workstations/"+url.PathEscape(v.r.PathValue("id"))+"/vnc", body, &i)
}

// answerJSON answers with JSON, which the page's own program reads.
func answerJSON(v *visit, status int, value any) error {
	body, err := json.Marshal(value)
	if err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "application/json")
	v.w.WriteHeader(status)
	_, _ = v.w.Write(body) // the browser may have left
	return nil
}

// answerRefusal answers the page's program with the refusal of a public route. Who has the desktop
// decides what the page can offer.
func answerRefusal(v *visit, err error) error {
	var failure *Failure
	if !errors.As(err, &failure) {
		return err
	}
	var details struct {
		Joinable bool `json:"joinable"`
		Sessions []struct {
			Own bool `json:"own"`
		} `json:"sessions"`
	}
	if len(failure.Details) > 0 {
		if err := json.Unmarshal([]byte(failure.Details), &details); err != nil {
			return err
		}
	}
	own := true
	for _, s := range details.Sessions {
		own = own && s.Own
	}
	type refusal struct {
		Code        string `json:"code"`
		Message     string `json:"message"`
		MayTakeOver bool   `json:"may_take_over"`
		MayJoin     bool   `json:"may_join"`
	}
	return answerJSON(v, failure.Status, map[string]refusal{"error": {
		failure.Code, sentence(failure.Message), own || v.has(keys.WorkstationsManage), details.Joinable,
	}})
}

// sentence makes a message of the API one for people.
func sentence(message string) string {
	if message == "" || strings.HasSuffix(message, ".") {
		return message
	}
	return strings.ToUpper(message[:1]) + message[1:] + "."
}
