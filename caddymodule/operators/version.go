package operators

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/gatehouse-proxy/gatehouse/internal/version"
)

// newVersionCommand is `caddy gatehouse version`.
func newVersionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "version", Short: "Version and commit of this program",
		Long: "Shows the version and the commit of Gatehouse in this program, and the versions of Caddy and Go that it was built\n" +
			"with. A running gateway shows its own in GET /v1/about and in the metric gatehouse_build_info.",
		Example: "  caddy gatehouse version\n  caddy gatehouse version --json",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return printVersion(cmd.OutOrStdout(), asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printVersion(w io.Writer, asJSON bool) error {
	b := version.Read()
	if asJSON {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(b)
	}
	_, err := fmt.Fprintf(w, "%s commit %s (Caddy %s, %s, %s/%s)\n", b.Version, b.Commit, b.Caddy, b.GoVersion, runtime.GOOS, runtime.GOARCH)
	return err
}
