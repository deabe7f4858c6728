-- A real Neovim against the real server: opens a note, rests on a key, jumps to it, runs commands, quits.
-- `nvim --clean --headless -l session.lua PYTHON NOTE` writes one JSON object to standard output.

local python, note = _G.arg[1], _G.arg[2]
local seen = { notifications = {} }

local function finish(code)
  io.stdout:write(vim.json.encode(seen))
  vim.cmd('cquit ' .. code)
end

vim.notify = function(message)
  table.insert(seen.notifications, message)
end
vim.lsp.handlers['window/showMessage'] = function(_, params)
  table.insert(seen.notifications, params.message)
end

vim.lsp.config('memory_recall', {
  cmd = { python, '-P', '-m', 'memory_recall.faces.lsp.main' },
  filetypes = { 'markdown' },
  root_markers = { '.git' },
  init_options = { agentName = 'neovim' },
})
vim.lsp.enable('memory_recall')
vim.cmd('filetype on')
vim.cmd.edit(vim.fn.fnameescape(note))
vim.bo.filetype = 'markdown'

local client
local ready = vim.wait(20000, function()
  client = vim.lsp.get_clients({ name = 'memory_recall' })[1]
  return client ~= nil and client.initialized
end, 10)
if not ready then
  seen.error = 'no client'
  finish(1)
end
seen.encoding = client.offset_encoding
seen.root = client.root_dir

local function find(text)
  vim.cmd('normal! gg0')
  vim.fn.search('\\V' .. text, 'c')
end

local function hover(text)
  find(text)
  vim.lsp.buf.hover()
  local window
  vim.wait(10000, function()
    for _, candidate in ipairs(vim.api.nvim_list_wins()) do
      if vim.api.nvim_win_get_config(candidate).relative ~= '' then
        window = candidate
      end
    end
    return window ~= nil
  end, 10)
  if not window then
    return vim.NIL
  end
  local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false)
  vim.api.nvim_win_close(window, true)
  return table.concat(lines, '\n')
end

seen.hover = hover('auth-flow')
seen.hover_beyond_emoji = hover('部署流程')

-- Typing: an edit before the reference, in the middle of characters of every width, and the hover follows.
vim.api.nvim_buf_set_text(0, 1, 0, 1, 0, { '🚀 é 部 ', 'é🚀 ' })
seen.hover_after_edit = hover('部署流程')

find('auth-flow')
vim.lsp.buf.definition()
vim.wait(10000, function()
  return vim.api.nvim_buf_get_name(0):match('memories%.json$') ~= nil
end, 10)
seen.definition = {
  file = vim.api.nvim_buf_get_name(0),
  line = vim.api.nvim_get_current_line(),
  column = vim.api.nvim_win_get_cursor(0)[2],
}
vim.cmd.buffer(vim.fn.fnameescape(note))

local function execute(command, arguments)
  local answer = client:request_sync('workspace/executeCommand', { command = command, arguments = arguments }, 20000)
  return answer and (answer.result or answer.err) or 'no answer'
end
seen.recall = execute('memoryRecall.nemp.recall', { 'auth-flow' })
seen.search = execute('memoryRecall.search', { { query = 'tokens', limit = 3 } })
seen.refused = execute('memoryRecall.search', { { query = 'tokens', limit = 'three' } })

-- The way a mapping would do it: Neovim warns where a server does not advertise the command.
local done = false
client:exec_cmd({ title = 'status', command = 'memoryRecall.status' }, {}, function(_, result)
  seen.status = result
  done = true
end)
vim.wait(20000, function()
  return done
end, 10)

client:stop()
seen.stopped = vim.wait(10000, function()
  return client:is_stopped()
end, 10)
finish(0)
