/** Shells that there is a script for. */
export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

// Each script only asks `edgetable __complete`, so that there is one completion for all shells.
const bash = `# edgetable completion for bash: source <(edgetable completion bash)
_edgetable() {
  local IFS=$'\\n'
  COMPREPLY=($(edgetable __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  if [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == *= ]]; then compopt -o nospace; fi
}
complete -o default -F _edgetable edgetable
`;

const zsh = `#compdef edgetable
# edgetable completion for zsh: source <(edgetable completion zsh)
_edgetable() {
  local -a found fields
  found=("\${(@f)$(edgetable __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  found=(\${found:#})
  if (( \${#found} == 0 )); then _files; return; fi
  fields=(\${(M)found:#*=})
  found=(\${found:#*=})
  (( \${#fields} )) && compadd -S '' -- $fields
  (( \${#found} )) && compadd -- $found
}
compdef _edgetable edgetable
`;

const fish = `# edgetable completion for fish: edgetable completion fish | source
complete -c edgetable -f -a '(edgetable __complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
complete -c edgetable -F -n '__fish_seen_subcommand_from load'
complete -c edgetable -l model -r -F
complete -c edgetable -l map -r -F
complete -c edgetable -l data -r -F
`;

/** What a shell has to read. */
export const scripts: Readonly<Record<Shell, string>> = { bash, zsh, fish };
