package console

import (
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/request"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// visit is one request of a signed-in key to a page. It is used by one goroutine.
type visit struct {
	w       http.ResponseWriter
	r       *http.Request
	console *Console
	page    *page
	caller  request.Caller
	session string    // the ID
	since   time.Time // of the session
	now     time.Time
	query   url.Values        // of the URL
	labels  map[string]string // of keys made at run time, by hash
	until   string            // since when calls are missing on the page, or ""
}

// serve runs the page, and shows what went wrong.
func (v *visit) serve() {
	err := error(&Failure{Status: http.StatusForbidden, Code: "insufficient_scope", Message: "the key needs " + scopeNames(v.page.scopes)})
	if v.page.allows(v.caller.Key) {
		err = v.page.serve(v)
	}
	if err != nil {
		v.fail(err)
	}
}

// has reports whether the key has a scope.
func (v *visit) has(scope keys.Scope) bool { return v.caller.Has(scope) }

// redirect sends the browser to another page after a form was done. done names what to say there:
// a row of the table notices, or "".
func (v *visit) redirect(path, done string) error {
	if done != "" {
		path += "?" + url.Values{"done": {done}}.Encode()
	}
	http.Redirect(v.w, v.r, path, http.StatusSeeOther)
	return nil
}

// notices are what a page says after a form was done, by their name in its URL: a text of the URL
// itself could be anybody's.
var notices = map[string]string{
	"registered": "The workstation is in service.",
	"released":   "The workstation is released: its addresses are dead and its sessions have ended.",
	"restored":   "The workstation is in service again.",
	"ended":      "The session has ended.",
	"erased":     "The recording is deleted.",
	"enabled":    "The key is enabled.",
	"limits":     "The limits of the key are changed. They count from the next request on.",
	"disabled":   "The key is disabled.",
	"deleted":    "The key is deleted.",
}

// fail shows what went wrong: the refusal of a public route in its words, and of our own failures
// only that there was one.
func (v *visit) fail(err error) {
	var failure *Failure
	if !errors.As(err, &failure) {
		v.console.config.Logger.Error("console page failed", zap.String("path", v.r.URL.Path), zap.Error(err))
		failure = &Failure{Status: http.StatusInternalServerError, Code: "internal", Message: "the gateway failed to make this page; its log has the cause"}
	}
	v.page = &page{title: failure.title(), menu: v.page.menu}
	v.w.Header().Set("X-Gatehouse-Code", failure.Code)
	if err := v.show(failure.Status, "failure", failure); err != nil {
		v.console.config.Logger.Error("console page failed", zap.String("path", v.r.URL.Path), zap.Error(err))
	}
}

func notFound(*visit) error {
	return &Failure{Status: http.StatusNotFound, Code: "not_found", Message: "there is no such page"}
}

// scopeNames lists scopes as a sentence does.
func scopeNames(scopes []keys.Scope) (text string) {
	for i, s := range scopes {
		if i > 0 {
			text += " or "
		}
		text += s.String()
	}
	return text
}
