package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/gatehouse-proxy/gatehouse/internal/models"
)

// newProvidersCommand is `caddy gatehouse providers`.
func newProvidersCommand() *cobra.Command {
	o := new(operator)
	return o.command(&cobra.Command{Use: "providers", Short: "The running Caddy's providers, and the health of their models"},
		func([]string) error { return listProviders(o) })
}

func listProviders(o *operator) error {
	return showList(o, "/gatehouse/providers", func(list []models.ProviderStatus) error {
		return o.table("PROVIDER\tTARGET\tSTATE\tUNTIL\tATTEMPTS\tFAILURES\tLAST FAILURE", func(row func(...any)) {
			for _, p := range list {
				providerRows(row, p)
			}
		})
	})
}

func providerRows(row func(...any), p models.ProviderStatus) {
	for _, e := range p.Endpoints {
		if e.Credential != nil {
			row(p.ID, credentialCell(e), stateCell(e.Credential), "-", "-", "-", textOrDash(e.Credential.Failure))
		}
	}
	switch {
	case p.ListMissing:
		row(p.ID, "-", "no list of models has come", "-", 0, 0, "-")
	case len(p.Targets) == 0:
		row(p.ID, "-", "no recent calls", "-", 0, 0, "-")
	}
	for _, t := range p.Targets {
		row(p.ID, t.ID, t.State, timeCell(t.CoolsUntil), t.Attempts, t.Failures, failureCell(t))
	}
}

// credentialCell names the credential of an endpoint.
func credentialCell(e models.EndpointStatus) string {
	if e.Name == nil {
		return "auth " + e.Credential.Cloud
	}
	return "auth " + e.Credential.Cloud + "@" + *e.Name
}

func stateCell(c *models.CredentialStatus) string {
	switch {
	case c.Remaining != nil:
		return "valid for " + (time.Duration(*c.Remaining) * time.Second).String()
	case c.Valid:
		return "valid"
	}
	return "no credential"
}

func textOrDash(text *string) string {
	if text == nil {
		return "-"
	}
	return *text
}

func timeCell(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return t.Format(time.RFC3339)
}

func failureCell(t models.TargetStatus) string {
	if t.LastFailureClass == nil {
		return "-"
	}
	return *t.LastFailureClass + " " + timeCell(t.LastFailure)
}
