-- Opens a file, waits for the first diagnostic, takes the preferred action, writes the file.
local function session()
  vim.lsp.start({ name = "fixer", cmd = { vim.env.FIXER, "lsp" }, root_dir = vim.fn.getcwd() })
  assert(vim.wait(60000, function() return #vim.diagnostic.get(0) > 0 end, 20), "no diagnostic came")
  local found = vim.diagnostic.get(0)[1]
  print(string.format("%d:%d %s %s: %s\n", found.lnum + 1, found.col + 1, found.source, found.code, found.message))
  vim.api.nvim_win_set_cursor(0, { found.lnum + 1, found.col })
  vim.lsp.buf.code_action({
    context = { only = { "quickfix" } },
    filter = function(action)
      print("offered: " .. action.title .. "\n")
      return action.isPreferred
    end,
    apply = true,
  })
  assert(vim.wait(60000, function() return #vim.diagnostic.get(0) == 0 end, 20), "the diagnostic stayed")
  vim.cmd("write")
end

local done, why = pcall(session)
if not done then print(why .. "\n") end
vim.cmd(done and "quitall!" or "cquit 1")
