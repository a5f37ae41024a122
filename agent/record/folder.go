package record

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"dsstar/agent/definitions"
	"dsstar/notebook"
	"dsstar/notebook/disk"
	"dsstar/notebook/lists"
)

// A Folder is the path of a run folder, which holds what a run leaves.
type Folder string

// The files of a run folder.
func (f Folder) Notebook() string { return filepath.Join(string(f), "notebook.ipynb") }
func (f Folder) Script() string   { return filepath.Join(string(f), "solution.py") }
func (f Folder) Trace() string    { return filepath.Join(string(f), "trace.jsonl") }
func (f Folder) Files() string    { return filepath.Join(string(f), FilesFolder) }

// Variables returns the path of the folder with the carried variables, which may not exist yet.
func (f Folder) Variables() string { return filepath.Join(string(f), variablesFolder) }

// Data returns the absolute path of the data folder that the run names, or "".
func (f Folder) Data(named string) string {
	if named == "" || filepath.IsAbs(named) {
		return named
	}
	return filepath.Join(string(f), named)
}

// The folders in a run folder.
const (
	FilesFolder     = "files"
	DataFolder      = "data" // with the links to the data, if these have several sources
	variablesFolder = "variables"
)

// ErrInUse is wrapped by the error of [CreateFolder] for a folder that is not empty. A run never
// overwrites anything.
var ErrInUse = errors.New("the folder is not empty")

// CreateFolder creates the run folder at path, which may exist if it is empty. Its path is the
// resolved one, which cells see.
func CreateFolder(path string) (f Folder, err error) {
	path, err = filepath.Abs(path)
	err = cmp.Or(err, os.MkdirAll(path, 0o755))
	f = Folder(disk.RealPath(path))
	entries, unread := os.ReadDir(string(f))
	if err = cmp.Or(err, unread); err == nil && len(entries) == 0 {
		err = os.Mkdir(f.Files(), 0o755)
	}
	if len(entries) > 0 || errors.Is(err, fs.ErrExist) { // another run was quicker
		err = fmt.Errorf("%s: %w", f, ErrInUse)
	}
	if err != nil {
		return "", fmt.Errorf("create the run folder: %w", err)
	}
	return f, nil
}

// NewFolder creates a run folder under base, named after the date and the question. It appends a
// number to a name that is taken.
func NewFolder(base, question string, now time.Time) (Folder, error) {
	name := filepath.Join(base, now.Format(time.DateOnly)+"-"+slug(question))
	path := name
	for n := 2; ; n++ {
		f, err := CreateFolder(path)
		if !errors.Is(err, ErrInUse) {
			return f, err
		}
		path = fmt.Sprintf("%s-%d", name, n)
	}
}

// Lock prevents other processes from continuing the run until release is called or the program
// ends. It locks the trace, because the notebook is replaced at every save.
func (f Folder) Lock() (release func(), err error) { return disk.Lock(f.Trace()) }

// CopyVariables copies the variables that cells load from another run folder. Links that lead out of
// it are not followed.
func (f Folder) CopyVariables(from Folder) error {
	root, err := os.OpenRoot(string(from))
	if err != nil {
		return err
	}
	defer root.Close()
	variables, _ := fs.Sub(root.FS(), variablesFolder) // the name is a good one
	if err = os.CopyFS(f.Variables(), variables); errors.Is(err, fs.ErrNotExist) {
		return nil // cells use none
	}
	return err
}

// Lend makes the run folder's variables available to cells that run in dir.
func (f Folder) Lend(dir string) error {
	info, err := os.Lstat(f.Variables())
	if err != nil || dir == "" {
		return nil // there are none, or no session
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder, as a run leaves it", f.Variables())
	}
	return os.Symlink(f.Variables(), filepath.Join(dir, variablesFolder))
}

// slug returns a folder name made from the first words of a question.
func slug(question string) string {
	name := strings.Join(strings.FieldsFunc(strings.ToLower(question), func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsNumber(c)
	}), "-")
	if long := []rune(name); len(long) > 40 {
		name = strings.TrimRight(string(long[:40]), "-")
	}
	return cmp.Or(name, "question")
}

// A Key seals what one user's dsstar writes. Nobody else can make a seal that holds. The nil Key
// seals nothing, and no seal holds with it.
type Key []byte

// Seal seals the record of a notebook: what the entry "dsstar" of its metadata says, with the
// digest of what its cells show now.
func (k Key) Seal(nb *notebook.Notebook) {
	if meta := content(nb); len(k) > 0 && meta != nil {
		meta["shown"] = shownSum(nb)
		meta["seal"] = k.of(definitions.Digest(meta))
		nb.Metadata["dsstar"] = meta
	}
}

func (k Key) of(digest string) string {
	sum, _ := hex.DecodeString(digest)
	mac := hmac.New(sha256.New, k)
	mac.Write(sum)
	return hex.EncodeToString(mac.Sum(nil))
}

// Holds reports whether the holder of the key has made a seal, for what it stands on.
func (k Key) Holds(s Seal) bool {
	return len(k) > 0 && hmac.Equal([]byte(s.Text), []byte(k.of(s.Sum)))
}

// Claimed follows what only the record of another user's dsstar says.
const Claimed = ", says its notebook"

// A Seal is the text of a seal, and the digest of what it is for.
type Seal struct {
	Text, Sum string

	Reshown bool // cells show something else than what was sealed
}

// SealOf returns the seal of a notebook.
func SealOf(nb *notebook.Notebook) (s Seal) {
	meta, _ := nb.Metadata["dsstar"].(map[string]any)
	s.Reshown = meta["shown"] != nil && meta["shown"] != shownSum(nb)
	if s.Text, _ = meta["seal"].(string); s.Text != "" {
		s.Sum = definitions.Digest(content(nb))
	}
	return s
}

// shownSum returns the digest of what dsstar's cells show.
func shownSum(nb *notebook.Notebook) string {
	var all []any
	for _, c := range nb.Cells {
		if _, own := c.Metadata["dsstar"]; own {
			all = append(all, c.ID, c.Type, c.Source)
			of := func(o notebook.Output) any { return o }
			all = append(all, lists.Map(Recounted(c.Outputs, 0), of)...)
		}
		if len(c.Attachments) > 0 {
			all = append(all, c.Attachments)
		}
	}
	return definitions.Digest(plain[any](all))
}

// content returns the record of a notebook, which may be just drawn or rewritten by another
// program, without its seal; nil if there is none.
func content(nb *notebook.Notebook) map[string]any {
	meta := plain[map[string]any](nb.Metadata["dsstar"])
	delete(meta, "seal")
	return meta
}

// plain returns a value as its JSON is read, with numbers in one form; zero if it has none.
func plain[T any](value any) (read T) {
	if data, err := json.Marshal(value); err == nil {
		_ = json.Unmarshal(data, &read)
	}
	return read
}

// Recounted returns the outputs with another execution count.
func Recounted(outputs []notebook.Output, count int) []notebook.Output {
	outputs = slices.Clone(outputs)
	for i := range outputs {
		if outputs[i].Type == notebook.ExecuteResult {
			outputs[i].ExecutionCount = count
		}
	}
	return outputs
}
