package console

import (
	"net/http"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// stopped is what somebody reads who does not get to a page.
type stopped struct {
	Status int
	Title  string
	Text   string // without the full stop at its end
	Again  bool   // to try again may help
	Back   string // the page to go on with, "" for none
}

// stop answers with a page that says why there is no other.
func (g *guard) stop(w http.ResponseWriter, r *http.Request, s stopped) {
	if s.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "5")
	}
	g.bare(w, r, s.Status, "stopped", s.Title, s)
}

// stopAway says that the gateway cannot find out who asks.
func (g *guard) stopAway(w http.ResponseWriter, r *http.Request, err error) {
	g.stop(w, r, stopped{Status: http.StatusServiceUnavailable, Title: "Not available now", Text: apierror.From(err).Message, Again: true})
}

// stopSessionsAway says that the store of the sessions does not answer.
func (g *guard) stopSessionsAway(w http.ResponseWriter, r *http.Request) {
	g.stop(w, r, stopped{Status: http.StatusServiceUnavailable, Title: "Not available now", Again: true, Text: "The gateways keep the sessions of this console in Valkey, which does not answer. " +
		"Nobody can sign in, and the gateway cannot tell who is signed in. Your session goes on when Valkey is back. Model calls need no session"})
}

// bare answers with a page for nobody: it has no menu.
func (g *guard) bare(w http.ResponseWriter, r *http.Request, status int, template, title string, data any) {
	err := writePage(w, status, template, layout{Title: title, Notice: notices[r.URL.Query().Get("done")], Theme: theme(r), Path: r.URL.RequestURI(), Now: g.config.Now(), Page: data})
	if err != nil {
		g.config.Logger.Error("console page failed", zap.String("path", r.URL.Path), zap.Error(err))
		http.Error(w, "the gateway failed to make this page; its log has the cause", http.StatusInternalServerError)
	}
}
