package guardrails

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
)

// read reads one guardrail:
//
//	guardrail NAME {
//		on input | output | both
//		deny DETECTOR            # any number
//		redact DETECTOR          # any number
//		window COUNT
//		webhook URL {
//			api_key {env.NAME}
//			timeout DURATION
//			on_failure open | closed
//			refuse_streams
//		}
//	}
//
// where DETECTOR is one of secrets, email, card, words WORD…, pattern EXPRESSION.
func (g *Guardrail) read(d *caddyfile.Dispenser) error {
	if !d.AllArgs(&g.Name) {
		return d.ArgErr()
	}
	return caddykit.Options{
		"on":      caddykit.Word(&g.On),
		"deny":    g.rule(judge.Deny),
		"redact":  g.rule(judge.Redact),
		"window":  caddykit.Value(&g.Window, caddykit.ParsePositive[int]),
		"webhook": {Read: g.readWebhook},
	}.Block(d)
}

// rule returns the option for an action.
func (g *Guardrail) rule(action judge.Action) caddykit.Option {
	return caddykit.Option{Many: true, Read: func(d *caddyfile.Dispenser) error {
		args := d.RemainingArgs()
		if len(args) == 0 {
			return d.ArgErr()
		}
		r := GuardRule{Guardrail: string(action), Detector: args[0]}
		switch args = args[1:]; r.Detector {
		case string(judge.Words):
			if r.Words = args; len(args) == 0 {
				return d.ArgErr()
			}
		case "pattern":
			if len(args) != 1 {
				return d.ArgErr()
			}
			r.Detector, r.Pattern = string(judge.Regexp), args[0]
		case string(judge.Secrets), string(judge.Email), string(judge.Card):
			if len(args) > 0 {
				return d.ArgErr()
			}
		default:
			return d.Errf("unknown detector %q; known detectors: card, email, pattern, secrets, words", r.Detector)
		}
		g.Rules = append(g.Rules, r)
		return nil
	}}
}

func (g *Guardrail) readWebhook(d *caddyfile.Dispenser) error {
	g.Webhook = new(GuardWebhook)
	if !d.AllArgs(&g.Webhook.URL) {
		return d.ArgErr()
	}
	return caddykit.Options{
		"api_key":        caddykit.Word(&g.Webhook.APIKey),
		"timeout":        caddykit.Value(&g.Webhook.Timeout, caddykit.ParseDuration),
		"on_failure":     caddykit.Word(&g.Webhook.OnFailure),
		"refuse_streams": caddykit.Flag(&g.Webhook.RefuseStreams),
	}.Block(d)
}
