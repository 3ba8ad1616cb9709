package console

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
)

// Names of models, keys, providers and codes can be anything, and so can the URL.
func TestHostileNamesAreTextOnPagesWithCharts(t *testing.T) {
	const evil = `"><img src=x onerror=alert(1)>'`
	a := newChartsAPI(t,
		chartsCall(func(r *activity.Record) { r.Model, r.Key, r.Provider = evil+strings.Repeat("x", 200), evil, evil }),
		chartsCall(func(r *activity.Record) { r.Model, r.Key = "\u202egnp.exe", "\x1b[31m" }),
		refused(evil),
	)
	values := regexp.MustCompile(`"[^"]*"`)
	inline := regexp.MustCompile(`(?i)<img src=x|<style|<script>|<[a-z][^<>]*\s(style|on[a-z]+)=`)
	for _, path := range []string{"/console/usage", "/console/usage?by=key", "/console/usage?by=provider&metric=tokens", "/console/latency", "/console/refusals", "/console/"} {
		for _, q := range []string{"", "key=" + url.QueryEscape(evil)} {
			address := path + "?" + q
			if strings.Contains(path, "?") {
				address = path + "&" + q
			}
			w := a.visit(address)
			body := values.ReplaceAllString(w.Body.String(), `""`)
			if found := inline.FindString(body); w.Code != 200 || found != "" {
				t.Errorf("%s: %d, %q in %s", address, w.Code, found, body)
			}
		}
	}
}
