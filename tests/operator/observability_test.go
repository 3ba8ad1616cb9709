package operator

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// observe runs a gateway through all that has a metric, and returns it.
func observe(t *testing.T) *harness.Gateway {
	t.Helper()
	desktop := harness.NewVNCServer(t, harness.NoSecurity)
	t.Setenv("CLIENT_SECRET", "entra-canary-0123456789")
	t.Setenv("SOURCE_SECRET", "whsec_c291cmNlLWNhbmFyeS0wMTIzNDU2Nzg5")
	cloud := startCloud(t)
	h := harness.Prepare(t)
	harness.WriteCatalog(h)
	if err := h.Reload(harness.Setup{
		Keys: harness.FullKey("budget 100usd/day\nunpriced allow\nconcurrency 1 queue 1 20s\nguardrails mask") + harness.Key("activity", "") +
			"key hosted {\nsecret {env.KEY_HOSTED}\nscopes mcp:call\nmcp demo\n}\n",
		Options: "guardrail mask {\non input\nredact email\n}\ncatalog DIR/prices.json\nmcp demo {\ndemo\n}\nresponses_websocket\nrealtime\n", VNC: desktop.As("one", "") +
			"source lab {\nwebhook http://127.0.0.1:1/ {\nsecret {env.SOURCE_SECRET}\n}\nnetworks 127.0.0.1/32\n}\n",
		Providers: harness.DefaultProviders + "provider cloud {\n" + cloud.entra() + "base_url " + cloud.URL + "\nmodels m\n}\n",
	}); err != nil {
		t.Fatal(err)
	}
	h.VNC.Ready()
	for body, status := range map[string]int{
		harness.Chat("fake/echo", harness.Streaming):                                             200,
		harness.Chat("fake/crlf", ""):                                                            200, // no price
		harness.Chat("fake/err-500", ""):                                                         502,
		harness.Chat("router/usage-zero", ""):                                                    200,
		harness.Hello("me@example.com/echo"):                                                     404,
		`{"model":"fake/echo","messages":[{"role":"user","content":"write to me@example.com"}]}`: 200,
	} {
		if a := h.Client.Post(harness.ChatV1, "full", body); a.Status != status {
			t.Errorf("%s: %d %s", body, a.Status, a.Body)
		}
	}
	if a := h.Client.Post("/v1/rerank", "full", `{"model":"fake/echo","query":"a","documents":["b"]}`); a.Status != 200 { // has a unit
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if a := h.Client.Post("/mcp/demo", "hosted", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"error"}}`); a.Status != 200 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	h.Client.Get("/v1/models", "")
	body := harness.Hello("fake/echo")
	atWork, _, read := harness.Behind(h, harness.Head(harness.ChatV1, "full", "Content-Length: "+strconv.Itoa(len(body)))+body)
	harness.WantInFlight(h, 2)
	atWork.Disconnect()
	if a := read(); a.Status != 200 {
		t.Errorf("a queued call: %d %s", a.Status, a.Body)
	}
	a := h.VNC.Issue("connect", "one", "")
	h.VNC.View(a).Leave()
	h.VNC.WaitClosed()
	harness.WantInFlight(h, 0)
	return h
}

// metricFamily is one metric of a page of metrics.
type metricFamily struct {
	kind   string // counter, gauge or histogram
	labels []string
}

var (
	typeLine   = regexp.MustCompile(`(?m)^# TYPE (\S+) (\S+)$`)
	sampleLine = regexp.MustCompile(`(?m)^([a-z_]+)(?:\{(.*)\})? \S+$`)
	labelName  = regexp.MustCompile(`([a-zA-Z_]+)="`)
	parts      = regexp.MustCompile(`_(bucket|sum|count)$`)
)

// families reads a page of metrics.
func families(page string) map[string]*metricFamily {
	found := map[string]*metricFamily{}
	for _, m := range typeLine.FindAllStringSubmatch(page, -1) {
		found[m[1]] = &metricFamily{kind: m[2]}
	}
	for _, m := range sampleLine.FindAllStringSubmatch(page, -1) {
		f := found[m[1]]
		if f == nil {
			f = found[parts.ReplaceAllString(m[1], "")]
		}
		for _, label := range labelName.FindAllStringSubmatch(m[2], -1) {
			if f != nil && label[1] != "le" && !slices.Contains(f.labels, label[1]) {
				f.labels = append(f.labels, label[1])
			}
		}
	}
	return found
}

func TestObservability(t *testing.T) {
	text := string(observe(t).Client.Get("/metrics", "").Body)
	page := families(text + clusterPage(t))
	t.Run("calls have the names of OpenTelemetry too", func(t *testing.T) {
		const call = `{error_type="upstream_error",gen_ai_operation_name="chat",gen_ai_provider_name="fake",gen_ai_request_model="fake/err-500"}`
		if !strings.Contains(text, "\ngen_ai_client_operation_duration_seconds_count"+call+" 1\n") {
			t.Errorf("no call %s in\n%s", call, text)
		}
		const tokens = `{gen_ai_operation_name="chat",gen_ai_provider_name="fake",gen_ai_request_model="fake/echo",gen_ai_token_type="input"}`
		if !strings.Contains(text, "\ngen_ai_client_token_usage_count"+tokens) {
			t.Errorf("no tokens %s in\n%s", tokens, text)
		}
	})
	t.Run("a dashboard names what there is", func(t *testing.T) { checkDashboard(t, page) })
	t.Run("alerts name what there is", func(t *testing.T) { checkAlerts(t, page) })
	t.Run("the manual has all metrics", func(t *testing.T) { checkManual(t, page) })
}

var (
	metricName = regexp.MustCompile(`\b(?:gatehouse|caddy|go|process)_[a-z_]+`)
	selector   = regexp.MustCompile(`\b((?:gatehouse|caddy|go|process)_[a-z_]+)\{([^}]*)\}`)
	matcher    = regexp.MustCompile(`([a-z_]+)(?:=~|!~|!=|=)"`)
	grouping   = regexp.MustCompile(`\bby \(([^)]*)\)`)
	legend     = regexp.MustCompile(`\{\{ *(?:\$labels\.)?([a-z_]+) *\}\}`)
)

// checkExpression checks that the metrics of an expression exist and have the labels that it, and a
// text with its labels, name.
func checkExpression(t *testing.T, page map[string]*metricFamily, expression, text string) {
	t.Helper()
	var all []string
	find := func(name string) *metricFamily {
		if f := page[name]; f != nil {
			return f
		}
		if f := page[parts.ReplaceAllString(name, "")]; f != nil && f.kind == "histogram" {
			return f
		}
		t.Errorf("%s: there is no metric %s", expression, name)
		return &metricFamily{}
	}
	for _, name := range metricName.FindAllString(expression, -1) {
		all = append(all, find(name).labels...)
	}
	if len(metricName.FindAllString(expression, -1)) == 0 {
		t.Errorf("%s names no metric", expression)
	}
	for _, m := range selector.FindAllStringSubmatch(expression, -1) {
		for _, label := range matcher.FindAllStringSubmatch(m[2], -1) {
			if !slices.Contains(find(m[1]).labels, label[1]) {
				t.Errorf("%s: %s has no label %s", expression, m[1], label[1])
			}
		}
	}
	var used []string
	for _, m := range grouping.FindAllStringSubmatch(expression, -1) {
		used = append(used, strings.Split(m[1], ",")...)
	}
	for _, m := range legend.FindAllStringSubmatch(text, -1) {
		used = append(used, m[1])
	}
	for _, label := range used {
		label = strings.TrimSpace(label)
		if label != "le" && label != "instance" && !slices.Contains(all, label) { // Prometheus adds instance
			t.Errorf("%s: none of its metrics has the label %q", expression, label)
		}
	}
}

func checkAlerts(t *testing.T, page map[string]*metricFamily) {
	for name, alert := range alertRules(t) {
		expression, annotations, _ := strings.Cut(alert, "labels: {severity: ")
		_, expression, _ = strings.Cut(expression, "expr:")
		expression, _, _ = strings.Cut(expression, "for:")
		checkExpression(t, page, strings.TrimSpace(expression), annotations)
		if t.Failed() {
			t.Log(name)
		}
	}
}

// alertRules are the texts of the alerts, by their names.
func alertRules(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/observability/alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	rules := map[string]string{}
	for _, rule := range strings.Split(string(text), "- alert: ")[1:] {
		name, rest, _ := strings.Cut(rule, "\n")
		rules[name] = rest
	}
	if len(rules) < 15 {
		t.Fatalf("%d alerts", len(rules))
	}
	return rules
}

// promtool checks that the tests of the alerts pass; here it is checked that there are enough.
func TestEachAlertHasARunbookAndTests(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile("../../docs/observability/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	manual, tests := read("README.md"), read("alerts_test.yml")+read("alerts_week_test.yml")+read("alerts_cluster_test.yml")
	rules := alertRules(t)
	for name, rule := range rules {
		_, section, ok := strings.Cut(manual, "\n### "+name+"\n")
		section, _, _ = strings.Cut(section, "\n#")
		for _, part := range []string{"**Means.** ", "**Look.** ", "**Do.** "} {
			if !ok || !strings.Contains(section, part) {
				t.Errorf("the runbook of %s has no %q", name, part)
			}
		}
		if !strings.Contains(rule, "runbook: docs/observability/README.md#"+strings.ToLower(name)+"\n") {
			t.Errorf("%s does not name its section of the runbook", name)
		}
		fires := strings.Count(tests, "alertname: "+name+"\n        exp_alerts:\n")
		silent := strings.Count(tests, "alertname: "+name+"\n        exp_alerts: []\n")
		if fires < 1 || silent < 1 {
			t.Errorf("%s: it fires in %d tests and is silent in %d, want one of each", name, fires, silent)
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^### (Gatehouse\w+)$`).FindAllStringSubmatch(manual, -1) {
		if rules[m[1]] == "" {
			t.Errorf("the runbook has %s, which is no alert", m[1])
		}
	}
}

// checkManual checks that the table of metrics in the manual is complete and true.
func checkManual(t *testing.T, page map[string]*metricFamily) {
	text, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| `((?:gatehouse|gen_ai)_[a-z_]+)` \\| (\\w+) \\| ([^|]*)\\| [^|]+ \\|$")
	documented := map[string]bool{}
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		name, kind, labels := m[1], m[2], m[3]
		documented[name] = true
		f := page[name]
		if f == nil {
			t.Errorf("the manual has %s, which does not exist", name)
			continue
		}
		var want []string
		want = append(want, strings.FieldsFunc(labels, func(r rune) bool { return r == ',' || r == ' ' || r == '`' })...)
		slices.Sort(want)
		slices.Sort(f.labels)
		if f.kind != kind || !slices.Equal(f.labels, want) {
			t.Errorf("%s is a %s with the labels %q; the manual says %s with %q", name, f.kind, f.labels, kind, want)
		}
	}
	for name := range page {
		if (strings.HasPrefix(name, "gatehouse_") || strings.HasPrefix(name, "gen_ai_")) && !documented[name] {
			t.Errorf("the manual has no %s", name)
		}
	}
}
