package console

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

// desktopStatus is what the page of a desktop asks for every few seconds.
type desktopStatus struct {
	Guests  int          `json:"guests"` // of the page's own session
	Control *deskControl `json:"control"`
}

// deskControl is who holds keyboard and pointer of a desktop that agents use too, and what they ask for.
type deskControl struct {
	Holder string    `json:"holder"` // as in [desktop.Control]
	Own    bool      `json:"own"`    // the page's own session does
	Who    string    `json:"who,omitempty"`
	Asks   []deskAsk `json:"asks,omitempty"`
}

type deskAsk struct {
	Who  string `json:"who"`
	Note string `json:"note,omitempty"`
}

// readDesk answers the page of a desktop with how many guests watch it, and who holds keyboard and pointer.
func readDesk(v *visit) error {
	own, guests, err := sessionOf(v, v.query.Get("token"))
	if err != nil {
		return answerRefusal(v, err)
	}
	var c desktop.Control
	if err := v.get(workstationRoute(v.r.PathValue("id"))+"/control", nil, &c); err != nil {
		return answerRefusal(v, err)
	}
	return answerJSON(v, http.StatusOK, desktopStatus{guests, controlFor(v, &c, own)})
}

// changeDesk takes keyboard and pointer for the page's session, or gives them back.
func changeDesk(v *visit) error {
	var wish struct {
		Action string `json:"action"`
		Token  string `json:"token"` // the name of that of the page
	}
	body, err := io.ReadAll(io.LimitReader(v.r.Body, maxOrder))
	if err == nil {
		err = json.Unmarshal(body, &wish)
	}
	if err != nil {
		return answerRefusal(v, notAnOrder())
	}
	own, guests, err := sessionOf(v, wish.Token)
	if err != nil {
		return answerRefusal(v, err)
	}
	change := map[string]string{"action": wish.Action}
	if own != "" {
		change["session_id"] = own
	}
	var c desktop.Control
	if err := v.send(http.MethodPost, workstationRoute(v.r.PathValue("id"))+"/control", change, &c); err != nil {
		return answerRefusal(v, err)
	}
	return answerJSON(v, http.StatusOK, desktopStatus{guests, controlFor(v, &c, own)})
}

func controlFor(v *visit, c *desktop.Control, own string) *deskControl {
	d := &deskControl{Holder: c.Holder, Own: own != "" && c.Session == own}
	if c.Key != "" {
		d.Who = whoIs(v, c.User, c.Key)
	}
	for _, r := range c.Requests {
		d.Asks = append(d.Asks, deskAsk{whoIs(v, r.User, r.Key), r.Note})
	}
	return d
}

// whoIs names a person, or a key whose user is not known.
func whoIs(v *visit, user, key string) string {
	if user != "" {
		return user
	}
	return keyName(v, key)
}

// sessionOf returns the page's session, "" if there is none, and how many guests it has. The page names the token
// of its connection as lists do.
func sessionOf(v *visit, token string) (id string, guests int, err error) {
	open, err := openSessions(v, url.Values{"workstation": {v.r.PathValue("id")}, "key": {v.caller.Name}})
	for i := range open {
		if open[i].Token == token {
			id = open[i].ID
			guests += open[i].Guests
		}
	}
	return id, guests, err
}
