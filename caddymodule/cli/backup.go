package cli

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/gatehouse-proxy/gatehouse/internal/terminal"
)

// newBackupCommand is `caddy gatehouse backup`.
func newBackupCommand() *cobra.Command {
	o := new(operator)
	cmd := &cobra.Command{
		Use: "backup FILE", Short: "Copy the running Caddy's database into a new file",
		Long: "Copies the database of the running Caddy into a new file, while calls go on: budgets, long rates, the\n" +
			"activity, keys made at run time, and owners of stored responses. The file can be read only by its owner. The copy is first\n" +
			"made in data_dir, which needs room for it.",
		Example: "  caddy gatehouse backup /var/backups/gatehouse-$(date +%F).db",
		Args:    positional(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.out = cmd.OutOrStdout()
			return writeBackup(o, args[0])
		},
	}
	o.addFlags(cmd)
	return cmd
}

// writeBackup writes to another name and renames: a file with the final name is complete.
func writeBackup(o *operator, path string) (err error) {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s exists; give the name of a new file", path)
	}
	began := time.Now()
	resp, err := o.request(http.MethodGet, "/gatehouse/backup", nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.partial") // a name that nobody could foresee
	if err != nil {
		return err
	}
	partial := f.Name()
	n, err := io.Copy(f, resp.Body)
	if err == nil && n != resp.ContentLength {
		err = io.ErrUnexpectedEOF
	}
	if err = errors.Join(err, f.Chmod(0o600), f.Sync(), f.Close()); err == nil {
		err = os.Rename(partial, path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("writing the backup: %w", err), os.Remove(partial))
	}
	_, err = fmt.Fprintf(o.out, "%s: %s in %s\n", path, terminal.Size(n), terminal.Duration(float64(time.Since(began).Milliseconds())))
	return err
}
